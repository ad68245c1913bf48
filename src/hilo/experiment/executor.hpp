#pragma once

#include "hilo/experiment/run.hpp"

namespace hilo {

// Where runs are executed: on the threads of this process, on the ranks of an MPI job
// (detail/run_mpi.hpp), or anywhere else that can execute whole runs. Results are the same
// everywhere.
class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  // Executes all runs of the plan except the finished ones, as run_all does.
  virtual Progress run(const std::vector<RunGroup>& all, const std::set<RunKey>& finished,
                       const RunCallbacks& callbacks) = 0;
};

class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(unsigned threads) : threads_(threads) {}  // 0: one per core
  Progress run(const std::vector<RunGroup>& all, const std::set<RunKey>& finished,
               const RunCallbacks& callbacks) override;

 private:
  unsigned threads_;
};

}  // namespace hilo
