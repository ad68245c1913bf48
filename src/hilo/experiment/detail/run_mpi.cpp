#include "hilo/experiment/detail/run_mpi.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/experiment/detail/record_bytes.hpp"
#include "hilo/experiment/detail/reporter.hpp"
#include "hilo/experiment/detail/run_group.hpp"

namespace hilo {
namespace {

constexpr int kFirst = 0;
constexpr auto kPatience = std::chrono::milliseconds(400);
constexpr auto kPause = std::chrono::milliseconds(1);  // between looks for messages

// What ranks say to each other.
enum Tag : int {
  kRequest = 1,  // to the first: give me a task
  kRecord,       // to the first: a run is done
  kGoodbye,      // to the first: nothing more will come; 1 if told to stop
  kTask,         // from the first: a group and which of its runs; empty if there is none left
  kStop,         // from the first: finish nothing more
};

// The group's number in the plan of everything, then the numbers of its runs. No more of these than
// fit into a message that is sent without waiting for who receives it: two ranks that send to each
// other must not both wait.
constexpr std::size_t kMostRuns = 128;
using Task = std::vector<std::int64_t>;

RunGroup group_of(const std::vector<RunGroup>& all, const Task& task) {
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

// A message that has come, whole.
template <class T>
std::vector<T> receive(const MPI_Status& status, MPI_Datatype type) {
  int count = 0;
  MPI_Get_count(&status, type, &count);
  std::vector<T> message(static_cast<std::size_t>(count));
  MPI_Recv(message.data(), count, type, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return message;
}

std::optional<MPI_Status> probe(int source) {
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
  if (!there) return std::nullopt;
  return status;
}

void send(int to, Tag tag, const std::vector<std::int64_t>& numbers) {
  MPI_Send(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, to, tag, MPI_COMM_WORLD);
}

void send_record(const std::vector<std::byte>& bytes) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(Errc::data, "the record of a run is too large to be sent: more than 2 GB");
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, kFirst, kRecord, MPI_COMM_WORLD);
}

// All ranks must mean the same runs, or numbers of groups would mean different things.
void check_same_plan(const std::vector<RunGroup>& all) {
  std::string text;
  for (const RunGroup& group : all)
    for (const PlannedRun& run : group.runs) {
      const RunKey key = run.key();
      text += fmt::format("{} {} {}\n", key.config, key.seed, key.algorithm_version);
    }
  const std::uint64_t own = hash_bytes(std::as_bytes(std::span(text)));
  std::uint64_t first = own;
  MPI_Bcast(&first, 1, MPI_UINT64_T, kFirst, MPI_COMM_WORLD);
  int same = own == first ? 1 : 0;
  int all_same = 0;
  MPI_Allreduce(&same, &all_same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (all_same == 0)
    throw Error(Errc::data,
                "ranks plan different runs: all must read the same spec, tables and program");
}

// Tasks for the threads of this rank, and whether more may come.
class TaskQueue {
 public:
  void push(Task task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }

  // No more will come; those that wait are given up if `drop`.
  void close(bool drop) {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (drop) tasks_.clear();
    changed_.notify_all();
  }

  // Waits for one; nothing once the queue is closed and empty. A task is always counted, waiting or
  // busy.
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

// Threads that work on a queue until it is closed. What one throws is kept, and closes it.
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
  std::vector<std::jthread> threads_;  // last: they use what stands above
};

// However its scope is left, nobody begins or goes on with a run after it.
struct StopAtEnd {
  std::atomic<bool>& stop;
  ~StopAtEnd() { stop = true; }
};

std::vector<RunGroup> without(const std::vector<RunGroup>& all, const std::set<RunKey>& finished,
                              TaskQueue& queue) {
  std::vector<RunGroup> to_do;
  for (std::size_t g = 0; g < all.size(); ++g) {
    Task task = {static_cast<std::int64_t>(g)};
    const auto hand_in = [&] {
      if (task.size() == 1) return;
      to_do.push_back(group_of(all, task));
      queue.push(task);
      task.resize(1);
    };
    for (std::size_t r = 0; r < all[g].runs.size(); ++r) {
      if (finished.contains(all[g].runs[r].key())) continue;
      task.push_back(static_cast<std::int64_t>(r));
      if (task.size() > kMostRuns) hand_in();
    }
    hand_in();
  }
  return to_do;
}

}  // namespace

bool MpiJob::is_launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

MpiJob::MpiJob() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  if (provided < MPI_THREAD_FUNNELED)
    throw Error(Errc::io, "this MPI cannot be used by a program with threads");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here);
  int ranks_here = 1;
  MPI_Comm_size(here, &ranks_here);
  // A launcher may have bound ranks to cores: a core is shared among those that may run on it.
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks_here));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, here);
  MPI_Comm_free(&here);
  int sharing = 0;
  for (const cpu_set_t& other : all) {
    cpu_set_t common;
    CPU_AND(&common, &own, &other);
    sharing += CPU_COUNT(&common) > 0 ? 1 : 0;
  }
  threads_ = static_cast<unsigned>(std::max(1, CPU_COUNT(&own) / std::max(1, sharing)));
}

MpiJob::~MpiJob() {
  if (others_are_there_) MPI_Finalize();
}

void MpiJob::abort(int code) const {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

Progress RankExecutor::run(const std::vector<RunGroup>& all, const std::set<RunKey>& finished,
                           const RunCallbacks& callbacks) {
  MpiJob& job = job_;
  check_same_plan(all);
  TaskQueue queue;
  const std::vector<RunGroup> to_do = without(all, finished, queue);
  queue.close(false);
  std::map<RunKey, const PlannedRun*> expected;
  for (const RunGroup& group : to_do)
    for (const PlannedRun& run : group.runs) expected[run.key()] = &run;

  Reporter reporter(to_do, callbacks);
  std::atomic<bool> stop = false;
  const auto keep_going = [&] { return !stop && callbacks.keep_going(); };
  Workers workers(
      threads_, queue, all,
      {.on_finished = [&](const PlannedRun& run,
                          const RunRecord& record) { reporter.finish(run, record); },
       .on_progress = [&](const PlannedRun& run, double share) { reporter.advance(run, share); },
       .keep_going = keep_going,
       .checkpoints = callbacks.checkpoints});

  const StopAtEnd stop_at_end{stop};
  std::exception_ptr failure;  // while taking in a record
  int others = job.size() - 1;
  std::vector<bool> is_gone(static_cast<std::size_t>(job.size()), false);
  bool told_to_stop = false;
  auto stopped_here = std::chrono::steady_clock::time_point::max();
  while (others > 0 || !workers.done()) {
    if (told_to_stop && workers.done()) {
      // One that does not answer may have died, which may be why all are told to stop; a launcher
      // gives a second to end in good order.
      const auto now = std::chrono::steady_clock::now();
      stopped_here = std::min(stopped_here, now);
      if (now - stopped_here > kPatience) {
        job.give_up_others();
        break;
      }
    }
    if (workers.has_failed() || reporter.has_failed()) stop = true;
    if (!keep_going() && !told_to_stop) {
      told_to_stop = true;
      queue.close(true);
      for (int rank = 1; rank < job.size(); ++rank)
        if (!is_gone[static_cast<std::size_t>(rank)]) send(rank, kStop, {});
    }
    bool anything = false;
    while (const auto status = probe(MPI_ANY_SOURCE)) {
      anything = true;
      if (status->MPI_TAG == kRequest) {
        receive<std::int64_t>(*status, MPI_INT64_T);
        send(status->MPI_SOURCE, kTask, queue.try_take().value_or(Task{}));
      } else if (status->MPI_TAG == kGoodbye) {
        if (receive<std::int64_t>(*status, MPI_INT64_T) == std::vector<std::int64_t>{1})
          stop = true;
        is_gone[static_cast<std::size_t>(status->MPI_SOURCE)] = true;
        --others;
      } else {
        const auto bytes = receive<std::byte>(*status, MPI_BYTE);
        try {
          const RunRecord record = record_from_bytes(bytes);
          const auto run = expected.find(record.key);
          if (run == expected.end())
            throw Error(Errc::data, "a rank sent the record of a run that nobody asked for");
          if (!failure) reporter.finish(*run->second, record);
        } catch (...) {
          if (!failure) failure = std::current_exception();
          stop = true;
        }
      }
    }
    if (!anything) std::this_thread::sleep_for(kPause);
  }
  if (failure) std::rethrow_exception(failure);
  workers.rethrow_failure();
  reporter.rethrow_failure();
  return reporter.progress();
}

void work_for_first(const MpiJob& /*job*/, const std::vector<RunGroup>& all, unsigned threads,
                    const std::function<bool()>& keep_going, const Checkpoints* checkpoints) {
  check_same_plan(all);
  TaskQueue queue;
  std::mutex mutex;
  std::deque<std::vector<std::byte>> records;
  std::atomic<bool> stop = false;
  Workers workers(threads, queue, all,
                  {.on_finished =
                       [&](const PlannedRun&, const RunRecord& record) {
                         const std::lock_guard lock(mutex);
                         records.push_back(to_bytes(record));
                       },
                   .on_progress = {},
                   .keep_going = [&] { return !stop && keep_going(); },
                   .checkpoints = checkpoints});

  const StopAtEnd stop_at_end{stop};
  unsigned asked = 0;  // requests without an answer yet
  bool no_more = false;
  bool told_to_stop = false;  // here, not by the first
  const auto end = [&](bool drop) {
    no_more = true;
    queue.close(drop);
  };
  for (;;) {
    if (!stop && !keep_going()) {
      stop = told_to_stop = true;
      end(true);
    }
    if (workers.has_failed()) workers.rethrow_failure();
    while (!no_more && asked + workers.busy() + queue.size() < workers.size()) {
      send(kFirst, kRequest, {});
      ++asked;
    }
    bool anything = false;
    while (const auto status = probe(kFirst)) {
      anything = true;
      Task task = receive<std::int64_t>(*status, MPI_INT64_T);
      if (status->MPI_TAG == kStop) {
        stop = true;
        end(true);
        continue;
      }
      --asked;
      if (task.empty())
        end(false);
      else if (!stop)
        queue.push(std::move(task));
    }
    // Looked at before the records, as the last of these may come in between.
    const bool is_last_look = workers.done() && asked == 0;
    for (;;) {
      std::vector<std::byte> bytes;
      {
        const std::lock_guard lock(mutex);
        if (records.empty()) break;
        bytes = std::move(records.front());
        records.pop_front();
      }
      anything = true;
      send_record(bytes);
    }
    if (is_last_look) break;
    if (!anything) std::this_thread::sleep_for(kPause);
  }
  workers.rethrow_failure();
  send(kFirst, kGoodbye, {told_to_stop ? 1 : 0});
}

}  // namespace hilo
