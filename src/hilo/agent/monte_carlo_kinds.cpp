#include <fmt/format.h>

#include "hilo/agent/kinds.hpp"
#include "hilo/agent/mcrl.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

double recency_of(const Parameters& p) {
  return p.text("weights") == "recency" ? kRecencyWeights : kEqualWeights;
}

Exploration exploration_of(const Parameters& p) {
  return exploration_from_name(p.text("exploration"));
}

ParameterInfo exploration_parameter() {
  return {.name = "exploration",
          .description =
              "uniform actions with probability epsilon, or with epsilon (1 - 1/A) as in "
              "the published runs",
          .default_value = "standard",
          .choices = {"standard", "as-published"},
          .silent_default = true};
}

std::unique_ptr<TabularAgent> build_mcrl(const Fidelities& pair, const Parameters& p,
                                         const AgentSetting& setting) {
  return std::make_unique<Mcrl>(pair.high().num_states(), pair.num_actions(),
                                McrlOptions{.gamma = setting.gamma,
                                            .epsilon = setting.epsilon,
                                            .recency = recency_of(p),
                                            .exploration = exploration_of(p)});
}

// Estimators other than the paper's are at their best with fading returns and every first visit of
// a roll-out, so that is what `estimator = ...` alone means.
void complete_mfmcrl(std::map<std::string, Value>& given) {
  const auto estimator = given.find("estimator");
  if (estimator == given.end() || estimator->second == Value("paper")) {
    for (const char* key : {"alpha", "forgetting"})
      if (given.contains(key))
        throw Error(Errc::spec, fmt::format("{} has no meaning for the estimator paper", key));
    return;
  }
  given.try_emplace("weights", "recency");
  given.try_emplace("pool", std::string(name_of(Pool::whole_paths)));
}

std::unique_ptr<TabularAgent> build_mfmcrl(const Fidelities& pair, const Parameters& p,
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
  return std::make_unique<Mfmcrl>(pair, options, setting.seed);
}

Shorthand shorthand(const char* name, const Variant& variant) {
  return {name,
          {{"low_policy", std::string(name_of(variant.low_policy))},
           {"pool", std::string(name_of(variant.pool))},
           {"projection", std::string(name_of(variant.projection))},
           {"exploration", std::string(name_of(variant.exploration))},
           {"estimator", "paper"}}};
}

std::vector<std::string> estimator_names() {
  std::vector<std::string> names;
  for (const EstimatorKind& kind : estimator_kinds()) names.emplace_back(kind.name);
  return names;
}

}  // namespace

std::vector<AgentKind> monte_carlo_kinds() {
  return {
      {.name = "mcrl",
       .display = "MCRL",
       .description = "first-visit Monte Carlo control on the high fidelity alone",
       .parameters = {{.name = "weights",
                       .description = "of old returns: 1/n, or fading as policies change",
                       .default_value = "equal",
                       .choices = {"equal", "recency"},
                       .silent_default = true},
                      exploration_parameter()},
       .variants = {},
       .complete = {},
       .display_of = {},
       .uses_low_fidelity = false,
       .plans = false,
       .algorithm_version = Mcrl::kAlgorithmVersion,
       .build = build_mcrl},
      {.name = "mfmcrl",
       .display = "MFMCRL",
       .description = "the paper's multifidelity Monte Carlo control (Algorithm 1)",
       .parameters =
           {
               {"low_rollouts",
                "m, low-fidelity roll-outs for each pair of an episode",
                std::int64_t{10},
                1,
                1'000'000,
                {}},
               {"low_policy",
                "what roll-outs follow in their greedy branch",
                "policy",
                0,
                0,
                {"policy", "action-0"}},
               {"pool",
                "which low-fidelity returns make the population mean; with another estimator than "
                "paper the default is whole-paths",
                "start-pairs",
                0,
                0,
                {"start-pairs", "first-visits", "whole-paths"}},
               {.name = "estimator",
                .description = "how returns become values; empirical-bayes is MFMCRL+",
                .default_value = "paper",
                .choices = estimator_names(),
                .silent_default = true},
               {.name = "weights",
                .description = "of old returns: 1/n, or fading as policies change; with another "
                               "estimator than paper the default is recency",
                .default_value = "equal",
                .choices = {"equal", "recency"},
                .silent_default = true},
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
                .choices = {},
                .silent_default = true},
               {.name = "coupling",
                .description = "what a high-fidelity return is paired with",
                .default_value = "path",
                .choices = {"path", "common-random-numbers", "none"},
                .silent_default = true},
               exploration_parameter(),
           },
       .variants = {shorthand("as-written", kAsWritten),
                    shorthand("as-published", kAsPublished),
                    {"plus", {{"estimator", "empirical-bayes"}}}},
       .complete = complete_mfmcrl,
       .display_of =
           [](const Parameters& p) {
             return p.text("estimator") == "empirical-bayes" ? "MFMCRL+" : "MFMCRL";
           },
       .uses_low_fidelity = true,
       .plans = false,
       .algorithm_version = Mfmcrl::kAlgorithmVersion,
       .part_versions =
           [](const Parameters& p) {
             return std::map<std::string, std::uint32_t>{
                 {"estimator", estimator_kind(p.text("estimator")).algorithm_version}};
           },
       .build = build_mfmcrl},
  };
}

}  // namespace hilo
