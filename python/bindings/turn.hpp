#pragma once

#include <atomic>

#include "hilo/core/error.hpp"

namespace hilo::python {

// One thread at a time: whoever comes while another is at work is refused.
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
