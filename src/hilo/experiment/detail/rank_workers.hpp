#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "hilo/core/error.hpp"
#include "hilo/core/parallel.hpp"
#include "hilo/experiment/detail/run_group.hpp"

// For run_mpi.cpp: the work of one rank, and the threads that do it. Does not use MPI.
namespace hilo {

// A task is the index of a group in the complete plan, followed by the indices of runs in the
// group. The number of runs is limited so that the message can be sent without waiting for its
// receiver: two ranks that send to each other must not both wait.
inline constexpr std::size_t kMostRuns = 128;
using Task = std::vector<std::int64_t>;

inline RunGroup group_of(const std::vector<RunGroup>& all, const Task& task) {
  const auto bad = [] {
    throw Error(Errc::data, "a rank was handed a task that is not in its plan");
  };
  if (task.size() < 2 || task[0] < 0 || static_cast<std::size_t>(task[0]) >= all.size()) bad();
  const RunGroup& whole = all[static_cast<std::size_t>(task[0])];
  RunGroup group = whole;
  group.runs.clear();
  for (std::size_t i = 1; i < task.size(); ++i) {
    if (task[i] < 0 || static_cast<std::size_t>(task[i]) >= whole.runs.size()) bad();
    group.runs.push_back(whole.runs[static_cast<std::size_t>(task[i])]);
  }
  return group;
}

// Tasks for the threads of this rank, and whether more may come.
class TaskQueue {
 public:
  void push(Task task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }

  // Declares that no more tasks will come. If `drop`, the waiting tasks are discarded.
  void close(bool drop) {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (drop) tasks_.clear();
    changed_.notify_all();
  }

  // Waits for a task; returns nothing once the queue is closed and empty. `busy` is raised under
  // the lock, so that every task is counted as waiting or as busy.
  std::optional<Task> take(std::atomic<unsigned>& busy) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !tasks_.empty(); });
    if (!tasks_.empty()) ++busy;
    return pop();
  }
  std::optional<Task> try_take() {
    const std::lock_guard lock(mutex_);
    return pop();
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return tasks_.size();
  }

 private:
  std::optional<Task> pop() {
    if (tasks_.empty()) return std::nullopt;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool closed_ = false;
};

// Threads that work on a queue until it is closed. The first exception is kept and closes the
// queue.
class Workers {
 public:
  Workers(unsigned threads, TaskQueue& queue, const std::vector<RunGroup>& all,
          const GroupCallbacks& callbacks)
      : queue_(queue), all_(all), callbacks_(callbacks), running_(std::max(1U, threads)) {
    try {
      while (threads_.size() < std::max(1U, threads)) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those that started do the work.
      if (threads_.empty()) throw Error(Errc::io, "the system gives no threads");
      running_ -= std::max(1U, threads) - static_cast<unsigned>(threads_.size());
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() { queue_.close(true); }

  std::size_t size() const { return threads_.size(); }
  unsigned busy() const { return busy_; }
  bool done() const { return running_ == 0; }
  bool has_failed() const { return failed_; }
  void rethrow_failure() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work() {
    const ThreadShare share(1);
    try {
      while (const auto task = queue_.take(busy_)) {
        run_group(group_of(all_, *task), high_fidelities_, callbacks_);
        --busy_;
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
      --busy_;
      queue_.close(true);
    }
    --running_;
  }

  TaskQueue& queue_;
  const std::vector<RunGroup>& all_;
  GroupCallbacks callbacks_;
  HighFidelities high_fidelities_;
  std::atomic<unsigned> busy_ = 0, running_;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;  // last: they use the members above
};

}  // namespace hilo
