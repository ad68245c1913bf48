#pragma once

#include "hilo/driver/remote_workers.hpp"
#include "hilo/experiment/executor.hpp"

// Ranks are processes that mpirun, srun or a similar program started together. ranks.cpp implements
// them with MPI; one_rank.cpp replaces it where the program is built without MPI.
namespace hilo::cli {

// While this object lives, the process is one of the ranks, or the only one if it was started
// alone.
class Ranks {
 public:
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();
};

extern const bool kHasMpi;

// Rank 0, which owns the store and writes to the user.
bool is_first_rank();
int num_ranks();

// `threads` is the value of --threads. 0 means all cores of this machine, shared with the other
// ranks on it.
unsigned threads_of_rank(unsigned threads);

// Called by the first rank: executes runs on all ranks, or on the threads of the only rank.
std::unique_ptr<Executor> make_executor(unsigned threads);
void work_for_first_rank(const std::vector<RunGroup>& all, unsigned threads,
                         const std::function<bool()>& keep_going, const Checkpoints& checkpoints);

// Called by the first rank: the other ranks as workers of a learner; null if there are none.
std::unique_ptr<RemoteWorkers> make_remote_workers(const LearnSpec& spec);
void run_episodes_for_first_rank(const LearnSpec& spec, const std::function<bool()>& keep_going);

// Ends the other ranks, if there are any, after an error.
void end_all_ranks(int code);

}  // namespace hilo::cli
