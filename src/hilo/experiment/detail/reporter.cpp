#include "hilo/experiment/detail/reporter.hpp"

#include <algorithm>

#include "hilo/experiment/train.hpp"

namespace hilo {

Reporter::Reporter(const std::vector<RunGroup>& groups, const RunCallbacks& callbacks)
    : callbacks_(callbacks) {
  progress_.total = count_runs(groups);
  for (const RunGroup& group : groups)
    for (const PlannedRun& run : group.runs) total_cost_ += relative_cost(*run.config);
}

void Reporter::advance(const PlannedRun& run, double share) {
  if (!callbacks_.on_progress) return;
  const std::lock_guard lock(mutex_);
  under_way_[run.key()] = share * relative_cost(*run.config);
  try {
    tell();
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
    throw Interrupted();
  }
}

bool Reporter::has_failed() {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr;
}

void Reporter::rethrow_failure() {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void Reporter::finish(const PlannedRun& run, const RunRecord& record) {
  const std::lock_guard lock(mutex_);
  callbacks_.on_record(record);
  // A run that failed may succeed when it is repeated, so its last checkpoint is kept.
  if (callbacks_.checkpoints != nullptr && !record.failed)
    callbacks_.checkpoints->remove(run.key());
  under_way_.erase(run.key());
  ++progress_.done;
  progress_.failed += record.failed ? 1 : 0;
  cost_ += relative_cost(*run.config);
  if (callbacks_.on_progress) tell();
}

void Reporter::tell() {
  double cost = cost_;
  for (const auto& entry : under_way_) cost += entry.second;
  progress_.share = total_cost_ > 0 ? std::min(1.0, cost / total_cost_) : 1;
  callbacks_.on_progress(progress_);
}

}  // namespace hilo
