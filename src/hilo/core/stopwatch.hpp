#pragma once

#include <chrono>

namespace hilo {

using SteadyClock = std::chrono::steady_clock;

inline double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

// Adds its lifetime in seconds to `sum` when it is destroyed.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { sum_ += seconds_since(start_); }

 private:
  double& sum_;
  SteadyClock::time_point start_ = SteadyClock::now();
};

}  // namespace hilo
