#include <fmt/format.h>

#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/shared_parameters.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/catalogue.hpp"

namespace hilo {
namespace {

constexpr const char* kPaper = "paper";           // estimators
constexpr const char* kPlus = "empirical-bayes";  // MFMCRL+

// Estimators other than the paper's work best if old returns fade and every first visit of a
// roll-out counts, so these are the defaults if only `estimator = ...` is given.
void complete(NamedValues& given) {
  const auto estimator = given.find("estimator");
  if (estimator == given.end() || estimator->second == Value(kPaper)) {
    for (const char* key : {"alpha", "forgetting"})
      if (given.contains(key))
        throw Error(Errc::spec, fmt::format("{} has no meaning for the estimator paper", key));
    return;
  }
  given.try_emplace("weights", "recency");
  given.try_emplace("pool", std::string(name_of(Pool::whole_paths)));
}

std::unique_ptr<TabularAgent> build(const Fidelities& fidelities, const Parameters& p,
                                    const AgentSetting& setting) {
  const MfmcrlOptions options = {
      .gamma = setting.gamma,
      .epsilon = setting.epsilon,
      .low_rollouts = static_cast<std::uint32_t>(p.integer("low_rollouts")),
      .low_policy = low_behaviour_from_name(p.text("low_policy")),
      .pool = pool_from_name(p.text("pool")),
      .max_steps = setting.max_steps,
      .truncation = setting.truncation,
      .estimator = {.name = p.text("estimator"),
                    .alpha = alpha_from_name(p.text("alpha")),
                    .forgetting = p.number("forgetting")},
      .recency = recency_of(p),
      .pilot_episodes = setting.pilot_episodes,
      .coupling = coupling_from_name(p.text("coupling")),
      .exploration = exploration_of(p),
  };
  return std::make_unique<Mfmcrl>(fidelities, options, setting.seed);
}

Shorthand shorthand(const char* name, const Variant& variant) {
  return {name,
          {{"low_policy", std::string(name_of(variant.low_policy))},
           {"pool", std::string(name_of(variant.pool))},
           {"projection", std::string(name_of(variant.projection))},
           {"exploration", std::string(name_of(variant.exploration))},
           {"estimator", kPaper}}};
}

std::vector<std::string> estimator_names() {
  std::vector<std::string> names;
  for (const EstimatorKind& kind : estimator_kinds()) names.push_back(kind.name);
  return names;
}

std::vector<ParameterInfo> parameters() {
  return {{.name = "low_rollouts",
           .description = "m, low-fidelity roll-outs for each pair of an episode",
           .default_value = std::int64_t{10},
           .low = 1,
           .high = 1'000'000,
           .in_label = "m={}"},
          {.name = "low_policy",
           .description = "what roll-outs follow in their greedy branch",
           .default_value = "policy",
           .choices = {"policy", "action-0"}},
          {.name = "pool",
           .description = "which low-fidelity returns make the population mean; with another "
                          "estimator than paper the default is whole-paths",
           .default_value = "start-pairs",
           .choices = {"start-pairs", "first-visits", "whole-paths"}},
          {.name = "estimator",
           .description = "how returns become values; empirical-bayes is MFMCRL+",
           .default_value = kPaper,
           .silent_default = true,
           .names_method = true,
           .choices_now = estimator_names},
          weights_parameter("; with another estimator than paper the default is recency"),
          {.name = "alpha",
           .description = "whose covariance counts; paper always takes a pair's own",
           .default_value = "pooled",
           .choices = {"own", "pooled", "shrunk"},
           .silent_default = true},
          {.name = "forgetting",
           .description = "how much of the sums over all pairs is kept at every update",
           .default_value = 0.9999,
           .low = 0.9,
           .high = 1,
           .silent_default = true},
          {.name = "coupling",
           .description = "what a high-fidelity return is paired with",
           .default_value = "path",
           .choices = {"path", "common-random-numbers", "none"},
           .silent_default = true},
          exploration_parameter()};
}

std::vector<Demand> demands(const Parameters& p) {
  std::vector<Demand> all;
  if (coupling_from_name(p.text("coupling")) == Coupling::common_random_numbers)
    all.push_back({kCommonRandomNumbers, "coupling is 'common-random-numbers'"});
  if (low_behaviour_from_name(p.text("low_policy")) == LowBehaviour::action_0)
    all.push_back({kRollOutsByActionZero,
                   "low_policy is 'action-0' (for the pool of the published runs alone set pool = "
                   "\"first-visits\")"});
  return all;
}

PilotView pilot(const Parameters& p, double epsilon, std::size_t num_actions) {
  const std::string& estimator = p.text("estimator");
  return {.low_rollouts = static_cast<std::uint32_t>(p.integer("low_rollouts")),
          // The pilot judges MFMCRL+, whose returns fade unless its own spec says otherwise.
          .fading = estimator == kPaper || recency_of(p) == kRecencyWeights,
          .is_what_is_judged = estimator == kPlus,
          .uniform_chance = chance_of_uniform_action(exploration_of(p), epsilon, num_actions),
          .obstacle = coupling_from_name(p.text("coupling")) == Coupling::path
                          ? ""
                          : "a pilot couples by the path, but no agent with a low fidelity has "
                            "coupling = \"path\""};
}

}  // namespace

AgentKind mfmcrl_kind() {
  return {.name = "mfmcrl",
          .display = "MFMCRL",
          .description = "the paper's multifidelity Monte Carlo control (Algorithm 1)",
          .parameters = parameters(),
          .variants = {shorthand("as-written", kAsWritten),
                       shorthand("as-published", kAsPublished),
                       {"plus", {{"estimator", kPlus}}}},
          .needs = {.low = LowFidelities::one},
          .algorithm_version = Mfmcrl::kAlgorithmVersion,
          .build = build,
          .complete = complete,
          .display_of = [](const Parameters& p) -> std::string {
            return p.text("estimator") == kPlus ? "MFMCRL+" : "MFMCRL";
          },
          .part_versions =
              [](const Parameters& p) {
                return std::map<std::string, std::uint32_t>{
                    {"estimator", estimator_kind(p.text("estimator")).algorithm_version}};
              },
          .demands = demands,
          // m roll-outs from every pair of an episode.
          .low_steps_per_step =
              [](const Parameters& p, double mean_length) {
                return mean_length * static_cast<double>(p.integer("low_rollouts"));
              },
          .pilot = pilot,
          .without_low_fidelity =
              [](const Parameters& p) {
                return NamedValues{{"kind", "mcrl"},
                                   {"weights", p.text("weights")},
                                   {"exploration", p.text("exploration")}};
              },
          .findings = {{.name = "pooled_alpha",
                        .description = "cov / var of the coupled returns, over all pairs"},
                       {.name = "bias_offset",
                        .description = "bias of the low fidelity, in standard deviations: mean "
                                       "over pairs"},
                       {.name = "bias_spread",
                        .description = "the same: standard deviation over pairs, beyond sampling "
                                       "noise",
                        .better = Better::lower}},
          .has_the_papers_bias = [](const Parameters& p) { return p.text("estimator") == kPaper; }};
}

}  // namespace hilo
