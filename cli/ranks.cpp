#include "cli/ranks.hpp"

#include <optional>

#include "hilo/experiment/run_mpi.hpp"

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

Progress run_on_all_ranks(const std::vector<RunGroup>& all, const std::set<RunKey>& finished,
                          unsigned threads, const RunCallbacks& callbacks) {
  return run_all_as_first(*job, all, finished, threads, callbacks);
}
void work_for_first_rank(const std::vector<RunGroup>& all, unsigned threads,
                         const std::function<bool()>& keep_going) {
  work_for_first(*job, all, threads, keep_going);
}
void end_all_ranks(int code) {
  if (job && job->size() > 1) job->abort(code);
}

}  // namespace hilo::cli
