#pragma once

#include "hilo/experiment/checkpoints.hpp"
#include "hilo/experiment/high_fidelities.hpp"
#include "hilo/experiment/run.hpp"
#include "hilo/experiment/train.hpp"
#include "hilo/experiment/training.hpp"

// For the sources of this folder only.
namespace hilo {

TrainingOptions training_options(const PlannedRun& run);
AgentSetting agent_setting(const PlannedRun& run);
TestPlan test_plan(const RunConfig& config);
std::unique_ptr<TabularAgent> build_agent(const PlannedRun& run, const Fidelities& pair);

// What a saved run begins with. Another version of the program need not continue in the same way,
// so that its states are refused.
void save_identity(const PlannedRun& run, ArchiveWriter& out);
void check_identity(const PlannedRun& run, ArchiveReader& in);

// A record with the identity of the run and the machine, but no results.
RunRecord start_record(const PlannedRun& run);

struct GroupCallbacks {
  std::function<void(const PlannedRun&, const RunRecord&)> on_finished;
  std::function<void(const PlannedRun&, double)> on_progress;  // share of the run; may be empty
  std::function<bool()> keep_going;
  const Checkpoints* checkpoints = nullptr;  // where runs under way are kept; null: nowhere
};

// Builds the problem and executes all runs of the group. A run that is told to stop leaves a
// checkpoint, but no record, and ends the group; a failing one is recorded as failed and the next
// one begins. What on_finished throws is passed to the caller; on_progress stops a run by throwing
// Interrupted.
void run_group(const RunGroup& group, HighFidelities& high_fidelities,
               const GroupCallbacks& callbacks);

}  // namespace hilo
