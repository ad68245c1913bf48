#pragma once

#include <cstddef>
#include <functional>

namespace hilo {

// Calls body(0), ..., body(count - 1) on `threads` threads (0: one per core), handing out the next
// index to whichever thread is free. After an exception no new index is handed out, calls that have
// started finish, and the exception with the lowest index is rethrown here.
void parallel_for(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t)>& body);

}  // namespace hilo
