#include "hilo/driver/detail/pilot_judge.hpp"

#include "hilo/core/error.hpp"
#include "hilo/diagnose/pilot.hpp"

namespace hilo {
namespace {

constexpr const char* kAdvice = "advice of the pilot (0: use it, 1: drop it, 2: cannot tell)";
constexpr const char* kPlanned = "training episodes that the pilot planned for";
constexpr const char* kLowSteps = "low-fidelity steps of the pilot";

}  // namespace

PilotJudge::PilotJudge(const LearnSpec& spec, Journal& journal, std::int64_t run)
    : spec_(spec), journal_(journal), run_(run) {
  if (spec.pilot_episodes == 0) return;
  const auto advice = journal.decided(run, kAdvice);
  if (!advice) return;
  if (*advice != 0 && *advice != 1 && *advice != 2)
    throw Error(Errc::data, "the journal has an advice of the pilot that is not known");
  advice_ = static_cast<Advice>(static_cast<int>(*advice));
  low_steps_ = static_cast<std::uint64_t>(journal.decided(run, kLowSteps).value_or(0));
}

void PilotJudge::judge(const Fidelities& pair, std::uint64_t low_steps, std::uint64_t planned) {
  std::uint64_t own_steps = 0;
  diagnosis_ = diagnose_paid(pair, planned, own_steps);
  advice_ = diagnosis_->advice;
  low_steps_ = own_steps + (is_dropped() ? low_steps : 0);
  // The advice last: without it, a run that is cut off here judges again.
  journal_.decide(run_, kPlanned, static_cast<double>(planned));
  journal_.decide(run_, kLowSteps, static_cast<double>(low_steps_));
  journal_.decide(run_, kAdvice, static_cast<double>(*advice_));
}

Diagnosis PilotJudge::diagnose_paid(const Fidelities& pair, std::uint64_t planned,
                                    std::uint64_t& low_steps) const {
  const RunConfig& config = spec_.config();
  const PilotView view = config.agent->pilot(config.agent_parameters,
                                             config.train.number("epsilon"), pair.num_actions());
  PilotStudy study(pair, QTable(pair.high().num_states(), pair.num_actions()),
                   {.episodes = static_cast<std::uint32_t>(spec_.pilot_episodes),
                    .low_rollouts = view.low_rollouts,
                    .gamma = config.train.number("gamma"),
                    .epsilon = 1,
                    .max_steps = static_cast<std::uint32_t>(config.train.integer("max_steps")),
                    .truncation = truncation_from_name(config.train.text("truncation")),
                    .seed = spec_.seed});
  for (std::uint64_t episode = 0; episode < spec_.pilot_episodes; ++episode)
    for (const Attempt& attempt : journal_.attempts_at(run_, {.episode = episode})) {
      if (attempt.failed) continue;
      study.count_high_seconds(attempt.seconds);
      study.add(static_cast<std::uint32_t>(episode), attempt.paid.path);
    }
  low_steps = study.pilot().low_steps;
  DiagnosisPlan plan = {.train_episodes = planned, .fading = view.fading};
  const DeclaredCosts& costs = spec_.costs;
  if (costs.any() && study.pilot().high_steps > 0) {
    plan.cost_high = costs.high_step.value_or(0) +
                     costs.high_episode.value_or(0) * static_cast<double>(study.pilot().episodes) /
                         static_cast<double>(study.pilot().high_steps);
    plan.cost_low = costs.low_step.value_or(0);
  }
  return diagnose(pair, study.pilot(), plan);
}

std::optional<PilotVerdict> PilotJudge::verdict(const Fidelities& pair) const {
  if (!advice_) return std::nullopt;
  if (!diagnosis_) {
    std::uint64_t again = 0;
    const auto planned = journal_.decided(run_, kPlanned).value_or(0);
    diagnosis_ = diagnose_paid(pair, static_cast<std::uint64_t>(planned), again);
  }
  return PilotVerdict{.diagnosis = *diagnosis_,
                      .advice = *advice_,
                      .goes_on_with = is_dropped() ? spec_.without_low->configs.front().label
                                                   : spec_.config().label};
}

}  // namespace hilo
