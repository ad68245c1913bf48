#pragma once

#include <set>
#include <vector>

#include "hilo/experiment/executor.hpp"

namespace hilo {

// This process as one of several that were started together by mpirun, srun or the like. There is
// at most one, and only the thread that made it uses it.
class MpiJob {
 public:
  // Whether there is such a launcher, by what it leaves in the environment. Without one, MPI is
  // never touched.
  static bool is_launched();

  MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;
  ~MpiJob();

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_first() const { return rank_ == 0; }

  // The cores that this rank may run on, shared among the ranks that may too.
  unsigned threads_per_rank() const { return threads_; }

  // Another rank is not there any more, so that no farewell can be taken together.
  void give_up_others() { others_are_there_ = false; }

  // Ends all ranks at once, after an error that the others do not know of.
  [[noreturn]] void abort(int code) const;

 private:
  int rank_ = 0, size_ = 1;
  unsigned threads_ = 1;
  bool others_are_there_ = true;
};

// Runs over all ranks. Rank 0 hands out groups as others ask for them, works as well, and alone
// calls on_record and on_progress; the records of the others come to it as soon as they are there.
// `all` is the plan of everything, the same on every rank, of which rank 0 leaves out what is
// `finished`. Stops as run_all does, on all ranks as soon as one is told to.
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
