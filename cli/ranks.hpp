#pragma once

#include "hilo/experiment/executor.hpp"

// Processes that were started together by mpirun, srun or the like. ranks.cpp is for them;
// one_rank.cpp stands in where the program is built without MPI.
namespace hilo::cli {

// While it lives, this process is one of the ranks; alone if nothing started it as one of several.
class Ranks {
 public:
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();
};

extern const bool kHasMpi;

// Rank 0, which owns the store and speaks to the user.
bool is_first_rank();
int num_ranks();

// As --threads: 0 stands for all cores of this machine, shared with the other ranks on it.
unsigned threads_of_rank(unsigned threads);

// Of the first rank: all ranks, or where there is one only, its threads.
std::unique_ptr<Executor> make_executor(unsigned threads);
void work_for_first_rank(const std::vector<RunGroup>& all, unsigned threads,
                         const std::function<bool()>& keep_going, const Checkpoints& checkpoints);

// After an error: ends the other ranks as well, if there are any.
void end_all_ranks(int code);

}  // namespace hilo::cli
