#pragma once

#include <set>
#include <vector>

#include "hilo/experiment/executor.hpp"

namespace hilo {

// This process as one of several that were started together by mpirun, srun or the like. There is
// at most one object, and only the thread that made it may use it.
class MpiJob {
 public:
  // Whether such a launcher started this process, by the environment variables that it sets.
  // Without one, MPI is never used.
  static bool is_launched();

  MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;
  ~MpiJob();

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_first() const { return rank_ == 0; }

  // The number of cores that this rank may run on, divided among the ranks that share them.
  unsigned threads_per_rank() const { return threads_; }

  // Another rank does not answer any more, so that MPI_Finalize, which needs all ranks, is not
  // called.
  void give_up_others() { others_are_there_ = false; }

  // Ends all ranks at once, after an error that the others do not know of.
  [[noreturn]] void abort(int code) const;

 private:
  int rank_ = 0, size_ = 1;
  unsigned threads_ = 1;
  bool others_are_there_ = true;
};

// Executes runs on all ranks. Rank 0 hands out groups when other ranks ask for them, works as well,
// and is the only one that calls on_record and on_progress; the other ranks send it their records
// as soon as these are complete. `all` is the complete plan, the same on every rank; rank 0 leaves
// out the runs in `finished`. Stops as run_all does, on all ranks as soon as one is told to.
class RankExecutor final : public Executor {
 public:
  RankExecutor(MpiJob& job, unsigned threads) : job_(job), threads_(threads) {}
  Progress run(const std::vector<RunGroup>& all, const std::set<RunKey>& finished,
               const RunCallbacks& callbacks) override;

 private:
  MpiJob& job_;
  unsigned threads_;
};

// The same on the other ranks.
void work_for_first(const MpiJob& job, const std::vector<RunGroup>& all, unsigned threads,
                    const std::function<bool()>& keep_going, const Checkpoints* checkpoints);

}  // namespace hilo
