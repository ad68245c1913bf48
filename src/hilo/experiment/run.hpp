#pragma once

#include <functional>
#include <set>
#include <span>
#include <vector>

#include "hilo/experiment/checkpoints.hpp"
#include "hilo/experiment/records.hpp"
#include "hilo/experiment/spec.hpp"

namespace hilo {

// One configuration with one seed.
struct PlannedRun {
  const RunConfig* config;
  std::uint64_t seed;

  RunKey key() const { return {config->hash, seed, config->agent->algorithm_version}; }
};

// Runs that share a problem: it is built once and all of them are trained on it. Groups of one seed
// that have the same high fidelity share that too.
struct RunGroup {
  std::shared_ptr<const ProblemKind> problem_kind;
  std::map<std::string, Value> problem;
  std::uint64_t seed = 0;
  std::vector<PlannedRun> runs;
};

// All runs of the specs but the finished ones, each once, grouped by seed and problem. The specs
// must outlive it.
std::vector<RunGroup> plan(std::span<const Spec> specs, const std::set<RunKey>& finished);
inline std::vector<RunGroup> plan(const Spec& spec, const std::set<RunKey>& finished) {
  return plan(std::span(&spec, 1), finished);
}

// The same plan without what is finished.
std::vector<RunGroup> without(const std::vector<RunGroup>& all, const std::set<RunKey>& finished);

std::size_t count_runs(const std::vector<RunGroup>& groups);

// How much work a run is against others, in steps; good enough for the time left.
double relative_cost(const RunConfig& config);

// Where a call of run_all stands.
struct Progress {
  std::size_t done = 0, failed = 0, total = 0;  // runs
  double share = 0;                             // of the work
};

struct RunCallbacks {
  std::function<void(const RunRecord&)> on_record;   // never from two threads at once
  std::function<void(const Progress&)> on_progress;  // likewise
  std::function<bool()> keep_going;                  // asked from every thread
  const Checkpoints* checkpoints = nullptr;          // of runs under way; null: none are kept
};

// Runs them on `threads` threads (0: one per core). A failing run is recorded as failed and the
// others go on; an exception of a callback stops all and is rethrown. Returns early when keep_going
// says no: runs that are not finished then leave no record, but a checkpoint.
Progress run_all(const std::vector<RunGroup>& groups, unsigned threads,
                 const RunCallbacks& callbacks);

// Bytes that a worker needs for the largest problem and for what a run measures, without making
// anything.
double estimate_bytes(const std::vector<RunGroup>& groups);

// Throws if so many workers would need more memory than the machine has left, with the numbers.
void require_memory(const std::vector<RunGroup>& groups, unsigned threads);

// Time and memory that a plan would take, extrapolated from short trials of some configurations.
struct CostEstimate {
  double core_seconds = 0;
  double bytes_per_thread = 0;
  bool too_large_to_try = false;  // some problems, which are not in core_seconds
};
CostEstimate estimate_cost(const std::vector<RunGroup>& groups);

}  // namespace hilo
