#pragma once

#include <chrono>
#include <condition_variable>
#include <thread>

#include "bindings.hpp"
#include "hilo/core/stop_request.hpp"
#include "live.hpp"

namespace hilo::python {

// Runs `work` on a new thread. The calling thread, which holds the GIL, releases it and checks for
// Ctrl-C several times a second, because Python delivers signals only to its main thread.
// `work(keep_going)` must call keep_going now and then; simulators in Python check at every step.
// `poll` is called with the GIL held. An exception of `work`, of `poll` or of Ctrl-C ends the work
// and is raised here.
template <class Work, class Poll>
void run_polling(Work&& work, Poll&& poll) {
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  std::atomic<bool> stop = false;
  std::exception_ptr failure;
  std::exception_ptr raised;
  {
    const nb::gil_scoped_release release;
    ++live::works;
    std::jthread worker([&] {
      const StopScope scope(&stop);
      try {
        work([&] { return !stop && !live::at_exit; });
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      finished.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!done) {
      finished.wait_for(lock, std::chrono::milliseconds(50));
      if (raised || live::at_exit) continue;
      lock.unlock();
      try {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        poll();
      } catch (...) {
        raised = std::current_exception();
        stop = true;
        ++live::stopping;
      }
      lock.lock();
    }
    lock.unlock();
    worker.join();
    if (raised) --live::stopping;
    --live::works;
  }
  if (raised) failure = raised;
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hilo::python
