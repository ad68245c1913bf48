#pragma once

#include <atomic>
#include <utility>

namespace hilo {

// Thrown where work was asked to stop before its end. It is no error.
struct Interrupted {};

// The flag by which the current thread is asked to stop, or null. A long wait deep in the library,
// such as for the answer of another program, looks at it several times a second and throws
// Interrupted.
inline thread_local const std::atomic<bool>* stop_flag = nullptr;

inline void throw_if_stopped() {
  if (stop_flag != nullptr && *stop_flag) throw Interrupted();
}

// Sets the flag of the current thread while it lives. The flag must outlive it.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>* flag) : before_(std::exchange(stop_flag, flag)) {}
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  ~StopScope() { stop_flag = before_; }

 private:
  const std::atomic<bool>* before_;
};

}  // namespace hilo
