#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>

#include "cli/commands.hpp"
#include "hilo/core/stop_request.hpp"

namespace hilo::cli {

inline constexpr std::array<int, 3> kStopSignals = {SIGINT, SIGTERM, SIGHUP};

inline std::atomic<bool> stop_requested = false;

// For commands that write only at their end. They can end at once, as nothing is half done.
inline void end_on_signals() {
  for (const int signal : kStopSignals)
    if (std::signal(signal, [](int) { ::_exit(kInterrupted); }) == SIG_IGN)
      std::signal(signal, SIG_IGN);  // an ignored signal stays ignored, as nohup needs it
}

// While this object lives, the first Ctrl-C, SIGTERM or SIGHUP (the terminal was closed) asks for a
// stop, also of waits deep in the library, and the second ends the process.
class StopOnSignal {
 public:
  StopOnSignal() {
    stop_requested = false;
    for (std::size_t i = 0; i < kStopSignals.size(); ++i) {
      before_[i] = std::signal(kStopSignals[i], handle);
      if (before_[i] == SIG_IGN) std::signal(kStopSignals[i], SIG_IGN);
    }
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  ~StopOnSignal() {
    for (std::size_t i = 0; i < kStopSignals.size(); ++i) std::signal(kStopSignals[i], before_[i]);
  }

 private:
  static void handle(int signal) {
    stop_requested = true;
    std::signal(signal, SIG_DFL);
  }

  std::array<void (*)(int), kStopSignals.size()> before_{};
  StopScope scope_{&stop_requested};
};

}  // namespace hilo::cli
