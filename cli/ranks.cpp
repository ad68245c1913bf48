#include "cli/ranks.hpp"

#include <optional>

#include "hilo/driver/detail/learn_mpi.hpp"
#include "hilo/experiment/detail/run_mpi.hpp"

namespace hilo::cli {
namespace {

std::optional<MpiJob> job;

}  // namespace

const bool kHasMpi = true;

Ranks::Ranks() {
  if (MpiJob::is_launched()) job.emplace();
}
Ranks::~Ranks() { job.reset(); }

bool is_first_rank() { return !job || job->is_first(); }
int num_ranks() { return job ? job->size() : 1; }
unsigned threads_of_rank(unsigned threads) {
  return threads == 0 && job ? job->threads_per_rank() : threads;
}

std::unique_ptr<Executor> make_executor(unsigned threads) {
  if (num_ranks() > 1) return std::make_unique<RankExecutor>(*job, threads);
  return std::make_unique<ThreadExecutor>(threads);
}
void work_for_first_rank(const std::vector<RunGroup>& all, unsigned threads,
                         const std::function<bool()>& keep_going, const Checkpoints& checkpoints) {
  work_for_first(*job, all, threads, keep_going, &checkpoints);
}
std::unique_ptr<RemoteWorkers> make_remote_workers(const LearnSpec& spec) {
  if (num_ranks() == 1) return nullptr;
  return std::make_unique<RankWorkers>(*job, spec);
}
void run_episodes_for_first_rank(const LearnSpec& spec, const std::function<bool()>& keep_going) {
  run_episodes_for_learner(*job, spec, keep_going);
}
void end_all_ranks(int code) {
  if (job && job->size() > 1) job->abort(code);
}

}  // namespace hilo::cli
