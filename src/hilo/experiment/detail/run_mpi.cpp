#include "hilo/experiment/detail/run_mpi.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/experiment/detail/mpi_messages.hpp"
#include "hilo/experiment/detail/rank_workers.hpp"
#include "hilo/experiment/detail/record_bytes.hpp"
#include "hilo/experiment/detail/reporter.hpp"

namespace hilo {
namespace {

// The messages between ranks.
enum Tag : int {
  kRequest = 1,  // to the first: give me a task
  kRecord,       // to the first: a run is done
  kGoodbye,      // to the first: nothing more will come; 1 if told to stop
  kTask,         // from the first: a group and which of its runs; empty if there is none left
  kStop,         // from the first: stop, without finishing runs
};

void send(int to, Tag tag, const std::vector<std::int64_t>& numbers) {
  MPI_Send(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, to, tag, MPI_COMM_WORLD);
}

void send_record(const std::vector<std::byte>& bytes) {
  MPI_Send(bytes.data(), message_size(bytes, "the record of a run"), MPI_BYTE, kFirstRank, kRecord,
           MPI_COMM_WORLD);
}

// All ranks must have the same plan, because tasks are indices into it.
void check_same_plan(const std::vector<RunGroup>& all) {
  std::string text;
  for (const RunGroup& group : all)
    for (const PlannedRun& run : group.runs) {
      const RunKey key = run.key();
      text += fmt::format("{} {} {}\n", key.config, key.seed, key.algorithm_version);
    }
  if (!is_same_on_all_ranks(hash_bytes(std::as_bytes(std::span(text)))))
    throw Error(Errc::data,
                "ranks plan different runs: all must read the same spec, tables and program");
}

// Sets `stop` however its scope is left, so that no run begins or continues after that.
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

namespace {

// The first rank: hands out tasks, takes in records, and works as well.
class FirstRank {
 public:
  FirstRank(MpiJob& job, unsigned threads, const std::vector<RunGroup>& all,
            const std::set<RunKey>& finished, const RunCallbacks& callbacks)
      : job_(job),
        callbacks_(callbacks),
        to_do_(without(all, finished, queue_)),
        reporter_(to_do_, callbacks),
        is_gone_(static_cast<std::size_t>(job.size()), false),
        others_(job.size() - 1),
        workers_(threads, queue_, all, callbacks_of_group()) {
    for (const RunGroup& group : to_do_)
      for (const PlannedRun& run : group.runs) expected_[run.key()] = &run;
    queue_.close(false);
  }

  Progress run() {
    const StopAtEnd stop_at_end{stop_};
    while (others_ > 0 || !workers_.done()) {
      if (has_waited_long_enough()) {
        job_.give_up_others();
        break;
      }
      if (workers_.has_failed() || reporter_.has_failed()) stop_ = true;
      if (!keep_going() && !told_to_stop_) tell_all_to_stop();
      bool anything = false;
      while (const auto status = probe(MPI_ANY_SOURCE)) {
        anything = true;
        answer(*status);
      }
      if (!anything) std::this_thread::sleep_for(kPauseBetweenLooks);
    }
    if (failure_) std::rethrow_exception(failure_);
    workers_.rethrow_failure();
    reporter_.rethrow_failure();
    return reporter_.progress();
  }

 private:
  bool keep_going() const { return !stop_ && callbacks_.keep_going(); }

  GroupCallbacks callbacks_of_group() {
    return {.on_finished = [this](const PlannedRun& run,
                                  const RunRecord& record) { reporter_.finish(run, record); },
            .on_progress = [this](const PlannedRun& run,
                                  double share) { reporter_.advance(run, share); },
            .keep_going = [this] { return keep_going(); },
            .checkpoints = callbacks_.checkpoints};
  }

  bool has_waited_long_enough() {
    if (!told_to_stop_ || !workers_.done()) return false;
    const auto now = SteadyClock::now();
    stopped_here_ = std::min(stopped_here_, now);
    return now - stopped_here_ > kPatienceWithRanks;
  }

  void tell_all_to_stop() {
    told_to_stop_ = true;
    queue_.close(true);
    for (int rank = 1; rank < job_.size(); ++rank)
      if (!is_gone_[static_cast<std::size_t>(rank)]) send(rank, kStop, {});
  }

  void answer(const MPI_Status& status) {
    if (status.MPI_TAG == kRequest) {
      receive<std::int64_t>(status, MPI_INT64_T);
      send(status.MPI_SOURCE, kTask, queue_.try_take().value_or(Task{}));
    } else if (status.MPI_TAG == kGoodbye) {
      if (receive<std::int64_t>(status, MPI_INT64_T) == std::vector<std::int64_t>{1}) stop_ = true;
      is_gone_[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
      --others_;
    } else {
      take_in(receive<std::byte>(status, MPI_BYTE));
    }
  }

  void take_in(const std::vector<std::byte>& bytes) {
    try {
      const RunRecord record = record_from_bytes(bytes);
      const auto run = expected_.find(record.key);
      if (run == expected_.end())
        throw Error(Errc::data, "a rank sent the record of a run that nobody asked for");
      if (!failure_) reporter_.finish(*run->second, record);
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
  }

  MpiJob& job_;
  const RunCallbacks& callbacks_;
  TaskQueue queue_;
  std::vector<RunGroup> to_do_;
  Reporter reporter_;
  std::map<RunKey, const PlannedRun*> expected_;
  std::vector<bool> is_gone_;   // by rank
  int others_;                  // that are not gone
  std::exception_ptr failure_;  // while taking in a record
  bool told_to_stop_ = false;
  SteadyClock::time_point stopped_here_ = SteadyClock::time_point::max();
  std::atomic<bool> stop_ = false;
  Workers workers_;  // last: they use the members above
};

}  // namespace

Progress RankExecutor::run(const std::vector<RunGroup>& all, const std::set<RunKey>& finished,
                           const RunCallbacks& callbacks) {
  check_same_plan(all);
  return FirstRank(job_, threads_, all, finished, callbacks).run();
}

namespace {

// Any other rank: asks the first for tasks, and sends it the records of what was done.
class OtherRank {
 public:
  OtherRank(const std::vector<RunGroup>& all, unsigned threads,
            const std::function<bool()>& keep_going, const Checkpoints* checkpoints)
      : keep_going_(keep_going),
        workers_(threads, queue_, all,
                 {.on_finished =
                      [this](const PlannedRun&, const RunRecord& record) {
                        const std::lock_guard lock(mutex_);
                        records_.push_back(to_bytes(record));
                      },
                  .on_progress = {},
                  .keep_going = [this] { return !stop_ && keep_going_(); },
                  .checkpoints = checkpoints}) {}

  void work() {
    const StopAtEnd stop_at_end{stop_};
    for (;;) {
      if (!stop_ && !keep_going_()) {
        told_to_stop_ = true;
        stop();
      }
      if (workers_.has_failed()) workers_.rethrow_failure();
      ask_for_tasks();
      const bool heard = listen();
      // Checked before the records are sent, because the last record may come in between.
      const bool is_last_look = workers_.done() && asked_ == 0;
      const bool sent = send_records();
      if (is_last_look) break;
      if (!heard && !sent) std::this_thread::sleep_for(kPauseBetweenLooks);
    }
    workers_.rethrow_failure();
    send(kFirstRank, kGoodbye, {told_to_stop_ ? 1 : 0});
  }

 private:
  void end(bool drop) {
    no_more_ = true;
    queue_.close(drop);
  }
  void stop() {
    stop_ = true;
    end(true);
  }

  void ask_for_tasks() {
    while (!no_more_ && asked_ + workers_.busy() + queue_.size() < workers_.size()) {
      send(kFirstRank, kRequest, {});
      ++asked_;
    }
  }

  // Returns whether the first rank has sent anything.
  bool listen() {
    bool anything = false;
    while (const auto status = probe(kFirstRank)) {
      anything = true;
      Task task = receive<std::int64_t>(*status, MPI_INT64_T);
      if (status->MPI_TAG == kStop) {
        stop();
        continue;
      }
      --asked_;
      if (task.empty())
        end(false);
      else if (!stop_)
        queue_.push(std::move(task));
    }
    return anything;
  }

  // Returns whether there were any.
  bool send_records() {
    for (bool anything = false;; anything = true) {
      std::vector<std::byte> bytes;
      {
        const std::lock_guard lock(mutex_);
        if (records_.empty()) return anything;
        bytes = std::move(records_.front());
        records_.pop_front();
      }
      send_record(bytes);
    }
  }

  const std::function<bool()>& keep_going_;
  TaskQueue queue_;
  std::mutex mutex_;
  std::deque<std::vector<std::byte>> records_;
  unsigned asked_ = 0;  // requests without an answer yet
  bool no_more_ = false;
  bool told_to_stop_ = false;  // here, not by the first
  std::atomic<bool> stop_ = false;
  Workers workers_;  // last: they use the members above
};

}  // namespace

void work_for_first(const MpiJob& /*job*/, const std::vector<RunGroup>& all, unsigned threads,
                    const std::function<bool()>& keep_going, const Checkpoints* checkpoints) {
  check_same_plan(all);
  OtherRank(all, threads, keep_going, checkpoints).work();
}

}  // namespace hilo
