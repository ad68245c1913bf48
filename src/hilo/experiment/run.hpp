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

// All runs of the specs except the finished ones, each once, grouped by seed and problem. The specs
// must outlive it.
std::vector<RunGroup> plan(std::span<const Spec> specs, const std::set<RunKey>& finished);
inline std::vector<RunGroup> plan(const Spec& spec, const std::set<RunKey>& finished) {
  return plan(std::span(&spec, 1), finished);
}

// The same plan without the finished runs.
std::vector<RunGroup> without(const std::vector<RunGroup>& all, const std::set<RunKey>& finished);

std::size_t count_runs(const std::vector<RunGroup>& groups);

// The estimated work of a run in steps, to compare it with other runs; accurate enough to estimate
// the time left.
double relative_cost(const RunConfig& config);

// The progress of a call of run_all.
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

// Executes the groups on `threads` threads (0: one per core). A failing run is recorded as failed
// and the others continue; an exception of on_record or on_progress stops all runs and is rethrown.
// Returns early if keep_going returns false: unfinished runs then leave a checkpoint, but no
// record.
Progress run_all(const std::vector<RunGroup>& groups, unsigned threads,
                 const RunCallbacks& callbacks);

// Estimated bytes that a worker needs for the largest problem and for the measurements of a run.
// Builds nothing.
double estimate_bytes(const std::vector<RunGroup>& groups);

// Throws if this many threads would need more memory than the machine has left, and says how much.
void require_memory(const std::vector<RunGroup>& groups, unsigned threads);

// Time and memory that a plan would take, extrapolated from short trials of some configurations.
struct CostEstimate {
  double core_seconds = 0;
  double bytes_per_thread = 0;
  bool too_large_to_try = false;  // some problems are; core_seconds is without them
};
CostEstimate estimate_cost(const std::vector<RunGroup>& groups);

}  // namespace hilo
