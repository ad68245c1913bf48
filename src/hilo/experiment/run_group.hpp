#pragma once

#include "hilo/experiment/high_fidelities.hpp"
#include "hilo/experiment/run.hpp"
#include "hilo/experiment/train.hpp"

// For the sources of this folder only.
namespace hilo {

TrainOptions train_options(const PlannedRun& run);
TestOptions test_options(const RunConfig& config, const HighFidelity& high);
std::unique_ptr<Agent> build_agent(const PlannedRun& run, const FidelityPair& pair);

struct GroupCallbacks {
  std::function<void(const PlannedRun&, const RunRecord&)> on_finished;
  std::function<void(const PlannedRun&, double)> on_progress;  // share of the run; may be empty
  std::function<bool()> keep_going;
};

// Builds the problem and does all runs of the group. A run that is told to stop leaves no record
// and ends the group; a failing one is recorded as failed and the next one begins. What a callback
// throws goes on to the caller.
void run_group(const RunGroup& group, HighFidelities& high_fidelities,
               const GroupCallbacks& callbacks);

}  // namespace hilo
