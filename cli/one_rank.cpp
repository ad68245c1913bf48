#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "cli/ranks.hpp"
#include "hilo/core/error.hpp"

namespace hilo::cli {

const bool kHasMpi = false;

// Without MPI, processes that were started together would all do the same work and compete for the
// store.
Ranks::Ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* size = std::getenv(name);
    if (size != nullptr && std::string(size) != "1")
      throw Error(
          Errc::usage,
          fmt::format("started as one of {} ranks ({}), but this program is built without "
                      "MPI; make mpi builds the program with MPI, build/release/bin/mpi/hilo",
                      size, name));
  }
}
Ranks::~Ranks() = default;

bool is_first_rank() { return true; }
int num_ranks() { return 1; }
unsigned threads_of_rank(unsigned threads) { return threads; }

std::unique_ptr<Executor> make_executor(unsigned threads) {
  return std::make_unique<ThreadExecutor>(threads);
}
void work_for_first_rank(const std::vector<RunGroup>& /*all*/, unsigned /*threads*/,
                         const std::function<bool()>& /*keep_going*/,
                         const Checkpoints& /*checkpoints*/) {
  throw Error(Errc::usage, "there is only one rank");
}
std::unique_ptr<RemoteWorkers> make_remote_workers(const LearnSpec& /*spec*/) { return nullptr; }
void run_episodes_for_first_rank(const LearnSpec& /*spec*/,
                                 const std::function<bool()>& /*keep_going*/) {
  throw Error(Errc::usage, "there is only one rank");
}
void end_all_ranks(int /*code*/) {}

}  // namespace hilo::cli
