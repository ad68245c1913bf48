#include "hilo/experiment/detail/run_group.hpp"

#include <optional>

#include "hilo/core/error.hpp"
#include "hilo/core/machine.hpp"
#include "hilo/core/version.hpp"
#include "hilo/experiment/single_run.hpp"
#include "hilo/experiment/vector_run.hpp"

namespace hilo {

TrainingOptions training_options(const PlannedRun& run) {
  const Parameters& p = run.config->train;
  return {.episodes = static_cast<std::uint64_t>(p.integer("episodes")),
          .steps = static_cast<std::uint64_t>(p.integer("steps")),
          .gamma = p.number("gamma"),
          .max_steps = static_cast<std::uint32_t>(p.integer("max_steps")),
          .seed = run.seed,
          .pilot_episodes = static_cast<std::uint64_t>(p.integer("pilot_episodes")),
          .lag = static_cast<std::uint64_t>(p.integer("lag"))};
}

AgentSetting agent_setting(const PlannedRun& run) {
  const Parameters& p = run.config->train;
  return {.gamma = p.number("gamma"),
          .epsilon = p.number("epsilon"),
          .max_steps = static_cast<std::uint32_t>(p.integer("max_steps")),
          .truncation = truncation_from_name(p.text("truncation")),
          .seed = run.seed,
          .pilot_episodes = static_cast<std::uint64_t>(p.integer("pilot_episodes"))};
}

TestPlan test_plan(const RunConfig& config) {
  const Parameters& p = config.test;
  return {.every = static_cast<std::uint64_t>(p.integer("every")),
          .episodes = static_cast<std::uint32_t>(p.integer("episodes")),
          .exact_every = static_cast<std::uint64_t>(p.integer("exact_every")),
          .count_steps = p.flag("count_steps")};
}

std::unique_ptr<TabularAgent> build_agent(const PlannedRun& run, const Fidelities& pair) {
  return build_checked(*run.config->agent, pair, run.config->agent_parameters, agent_setting(run));
}

void save_identity(const PlannedRun& run, ArchiveWriter& out) {
  const RunKey key = run.key();
  out.text(program_name());
  out.text(key.config);
  out.value(key.seed);
  out.value(key.algorithm_version);
}

void check_identity(const PlannedRun& run, ArchiveReader& in) {
  const RunKey key = run.key();
  if (in.text("program") != program_name()) ArchiveReader::mismatch("program");
  if (in.text("configuration") != key.config) ArchiveReader::mismatch("configuration");
  in.expect("seed", key.seed);
  in.expect("algorithm version", key.algorithm_version);
}

RunRecord start_record(const PlannedRun& run) {
  RunRecord record;
  record.key = run.key();
  record.configuration = run.config->configuration;
  record.host = host_name();
  record.machine = machine_name();
  return record;
}

namespace {

RunRecord failed_record(const PlannedRun& run, const std::string& error, std::exception_ptr cause) {
  RunRecord record = start_record(run);
  record.failed = true;
  record.error = error;
  record.cause = std::move(cause);
  return record;
}

// Reports the progress of a run, a hundred times at most.
class Teller {
 public:
  explicit Teller(const std::function<void(double)>& tell) : tell_(tell) {}
  void tell(double share) {
    if (!tell_ || share < told_ + 0.01) return;
    told_ = share;
    tell_(share);
  }

 private:
  const std::function<void(double)>& tell_;
  double told_ = 0;
};

// Continues from the checkpoint of the run if there is a valid one, otherwise from the beginning.
using MakeRun = std::function<std::unique_ptr<ResumableRun>(const PlannedRun&)>;

std::unique_ptr<ResumableRun> take_up(const PlannedRun& run, const MakeRun& make,
                                      const Checkpoints* checkpoints) {
  auto fresh = make(run);
  if (checkpoints == nullptr) return fresh;
  const auto saved = checkpoints->find(run.key());
  if (!saved) return fresh;
  try {
    fresh->load(*saved);
    return fresh;
  } catch (const std::exception&) {  // damaged, or of another program: only time is lost
    return make(run);
  }
}

RunRecord execute(const PlannedRun& run, const MakeRun& make, const GroupCallbacks& callbacks) {
  try {
    const std::unique_ptr<ResumableRun> taken = take_up(run, make, callbacks.checkpoints);
    ResumableRun& single = *taken;
    std::function<void(double)> on_progress;
    if (callbacks.on_progress)
      on_progress = [&](double share) { callbacks.on_progress(run, share); };
    Teller teller(on_progress);
    CheckpointTimer timer(callbacks.checkpoints);
    try {
      do {
        if (!callbacks.keep_going()) throw Interrupted();
        timer.keep_if_due(run.key(), single);
        teller.tell(single.share());
      } while (!single.step());
    } catch (const Interrupted&) {
      timer.keep(run.key(), single);
      throw;
    }
    return single.record();
  } catch (const std::exception& e) {
    return failed_record(run, e.what(), std::current_exception());
  }
}

}  // namespace

void run_group(const RunGroup& group, HighFidelities& high_fidelities,
               const GroupCallbacks& callbacks) {
  if (!callbacks.keep_going()) return;
  try {
    std::shared_ptr<const HighFidelity> high;
    std::optional<Problem> problem;
    std::optional<VectorProblem> vectors;
    MakeRun make;
    std::string error;
    std::exception_ptr cause;
    try {
      if (group.problem_kind->has_vectors(group.problem)) {
        vectors = build_vector_problem(*group.problem_kind, group.problem, group.seed);
        make = [&](const PlannedRun& run) { return std::make_unique<VectorRun>(run, *vectors); };
      } else {
        high = high_fidelities.get(*group.problem_kind, group.problem, group.seed);
        problem = build_problem(*group.problem_kind, group.problem, group.seed, high->simulator());
        make = [&](const PlannedRun& run) {
          return std::make_unique<SingleRun>(run, *high, *problem);
        };
      }
    } catch (const std::exception& e) {
      error = e.what();
      cause = std::current_exception();
    }
    for (const PlannedRun& run : group.runs) {
      callbacks.on_finished(
          run, make ? execute(run, make, callbacks) : failed_record(run, error, cause));
    }
  } catch (const Interrupted&) {
    // The run leaves no record. Its next execution continues from its checkpoint.
  }
}

}  // namespace hilo
