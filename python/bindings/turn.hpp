#pragma once

#include <atomic>

#include "hilo/core/error.hpp"

namespace hilo::python {

// Only one thread at a time: a second thread gets an error while the first is at work.
class Turn {
 public:
  Turn(std::atomic<bool>& busy, const char* what) : busy_(busy) {
    if (busy_.exchange(true))
      throw Error(Errc::usage,
                  std::string("this ") + what + " is at work on another thread; give each its own");
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { busy_ = false; }

 private:
  std::atomic<bool>& busy_;
};

}  // namespace hilo::python
