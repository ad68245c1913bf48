#pragma once

#include <cstddef>
#include <functional>

namespace hilo {

// Calls body(0), ..., body(count - 1) on `threads` threads (0: one per core), handing out the next
// index to whichever thread is free. After an exception no new index is handed out, calls that have
// started finish, and the exception with the lowest index is rethrown here. A further call inside
// of a body uses no more than its share of these threads.
void parallel_for(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t)>& body);

// What this thread may use, for threads that are started otherwise and share the cores.
class ThreadShare {
 public:
  explicit ThreadShare(unsigned threads);
  ThreadShare(const ThreadShare&) = delete;
  ThreadShare& operator=(const ThreadShare&) = delete;
  ~ThreadShare();

 private:
  unsigned before_;
};

}  // namespace hilo
