#include "hilo/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "hilo/core/stop_request.hpp"

namespace hilo {
namespace {

thread_local unsigned allowed = 0;  // threads that this one may use, itself included; 0: all cores

}  // namespace

ThreadShare::ThreadShare(unsigned threads) : before_(allowed) { allowed = threads; }
ThreadShare::~ThreadShare() { allowed = before_; }

void parallel_for(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t)>& body) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  if (allowed > 0) threads = std::min(threads, allowed);

  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stop = false;
  std::mutex failure_mutex;
  std::exception_ptr failure;
  std::size_t failure_index = count;

  const std::atomic<bool>* const asked_to_stop = stop_flag;
  const std::size_t num_helpers = std::min<std::size_t>(threads, count);
  const auto work = [&] {
    const StopScope scope(asked_to_stop);
    const ThreadShare share(
        std::max(1U, threads / static_cast<unsigned>(std::max<std::size_t>(num_helpers, 1))));
    while (!stop) {
      const std::size_t i = next++;
      if (i >= count) return;
      try {
        body(i);
      } catch (...) {
        stop = true;
        const std::lock_guard lock(failure_mutex);
        if (i < failure_index) {
          failure_index = i;
          failure = std::current_exception();
        }
      }
    }
  };

  {
    std::vector<std::jthread> helpers;
    try {
      for (std::size_t i = 1; i < num_helpers; ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // The system gives no more threads: the threads that have started do the work.
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hilo
