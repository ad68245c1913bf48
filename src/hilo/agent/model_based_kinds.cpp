#include <fmt/format.h>

#include <algorithm>

#include "hilo/agent/bayes.hpp"
#include "hilo/agent/kinds.hpp"
#include "hilo/agent/mfrl.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

ParameterInfo optimism() {
  return {"optimism", "standard deviations that the unknown is rated above its mean", 2.0, 0, 100,
          {}};
}

std::unique_ptr<TabularAgent> build_bayes(const Fidelities& pair, const Parameters& p,
                                          const AgentSetting& setting) {
  return std::make_unique<Bayes>(
      pair,
      BayesOptions{.gamma = setting.gamma,
                   .optimism = p.number("optimism"),
                   .use_low = true,
                   .low_steps = static_cast<std::uint64_t>(p.integer("low_steps")),
                   .low_samples = static_cast<std::uint32_t>(p.integer("low_samples"))},
      setting.seed);
}

std::unique_ptr<TabularAgent> build_bayes_high(const Fidelities& pair, const Parameters& p,
                                               const AgentSetting& setting) {
  return std::make_unique<Bayes>(
      pair,
      BayesOptions{.gamma = setting.gamma, .optimism = p.number("optimism"), .use_low = false},
      setting.seed);
}

std::vector<ParameterInfo> rmax_parameters() {
  return {
      {"known_after", "visits after which a pair is known", std::int64_t{10}, 1, 1e6, {}},
      {"value_max", "what any state is worth at most: r_max / (1 - gamma)", 100.0, -1e9, 1e9, {}},
      {"value_min", "what any state is worth at least", 0.0, -1e9, 1e9, {}}};
}

std::vector<ParameterInfo> mfrl_parameters() {
  std::vector<ParameterInfo> all = rmax_parameters();
  const std::vector<ParameterInfo> more = {
      {"beta", "how far values may lie above those of the low fidelity", 0.0, 0, 1e9, {}},
      {"estimate_beta", "take what is seen for beta, if that is more", true, 0, 0, {}},
      {"low_known_after",
       "visits after which a pair is known in the low fidelity",
       std::int64_t{50},
       1,
       1e6,
       {}},
      {"known_steps",
       "m_known: steps through known pairs in a row, to go up",
       std::int64_t{5000},
       1,
       1e9,
       {}},
      {"unknown_pairs",
       "m_unknown: visits to pairs that are known in neither fidelity, to go down",
       std::int64_t{10},
       1,
       1e9,
       {}},
      {"low_steps", "in the low fidelity, at most", std::int64_t{10'000'000}, 1, 1e12, {}}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

KnownModelOptions known_model(const Parameters& p, const AgentSetting& setting) {
  return {.gamma = setting.gamma,
          .known_after = static_cast<std::uint32_t>(p.integer("known_after")),
          .value_min = p.number("value_min"),
          .value_max = p.number("value_max")};
}

void check_bounds(std::map<std::string, Value>& given) {
  const Parameters p("agent", rmax_parameters(), [&] {
    std::map<std::string, Value> bounds;
    for (const char* key : {"value_min", "value_max"})
      if (const auto found = given.find(key); found != given.end()) bounds.insert(*found);
    return bounds;
  }());
  if (p.number("value_min") >= p.number("value_max"))
    throw Error(Errc::spec, fmt::format("value_min is {}, but must be below value_max, {}",
                                        p.number("value_min"), p.number("value_max")));
}

std::unique_ptr<TabularAgent> build_rmax(const Fidelities& pair, const Parameters& p,
                                         const AgentSetting& setting) {
  return std::make_unique<Mfrl>(pair.high().num_states(), pair.num_actions(),
                                std::vector<LowFidelity>{},
                                MfrlOptions{.model = known_model(p, setting)}, setting.seed);
}

// Maps of fidelities begin at the high one, those of a chain at the level above: the second must
// not tell apart what the first puts together.
std::vector<LowFidelity> chain_of(const Fidelities& fidelities) {
  std::vector<LowFidelity> chain(fidelities.lows().begin(), fidelities.lows().end());
  for (std::size_t d = 1; d < chain.size(); ++d) {
    const StateMap& above = fidelities.map(d - 1);
    const StateMap& below = fidelities.map(d);
    std::vector<State> low_of;
    for (State s = 0; s < above.num_low_states(); ++s) {
      const std::span<const State> states = above.high_of(s);
      const auto goes_elsewhere = [&](State high) {
        return below.low_of(high) != below.low_of(states[0]);
      };
      if (states.empty() || std::ranges::any_of(states, goes_elsewhere))
        throw Error(Errc::spec,
                    fmt::format("state {} of low fidelity {} has no image of its own in low "
                                "fidelity {}, so that they are no chain",
                                s, d, d + 1));
      low_of.push_back(below.low_of(states[0]));
    }
    chain[d].map = std::make_shared<const StateMap>(std::move(low_of), below.num_low_states());
  }
  return chain;
}

std::unique_ptr<TabularAgent> build_mfrl(const Fidelities& pair, const Parameters& p,
                                         const AgentSetting& setting) {
  const MfrlOptions options = {
      .model = known_model(p, setting),
      .low_known_after = static_cast<std::uint32_t>(p.integer("low_known_after")),
      .beta = p.number("beta"),
      .estimate_beta = p.flag("estimate_beta"),
      .known_steps = static_cast<std::uint32_t>(p.integer("known_steps")),
      .unknown_pairs = static_cast<std::uint32_t>(p.integer("unknown_pairs")),
      .low_steps = static_cast<std::uint64_t>(p.integer("low_steps")),
      .max_steps = setting.max_steps};
  return std::make_unique<Mfrl>(pair.high().num_states(), pair.num_actions(), chain_of(pair),
                                options, setting.seed);
}

}  // namespace

std::vector<AgentKind> model_based_kinds() {
  return {
      {.name = "bayes",
       .display = "Bayes",
       .description = "plans in a model of the high fidelity with the low fidelity as its prior",
       .parameters =
           {optimism(),
            {"low_steps",
             "to learn the low fidelity's model, at most, but one for each pair",
             std::int64_t{10'000'000},
             1,
             1e12,
             {}},
            {"low_samples", "of them for each pair, at most", std::int64_t{1000}, 1, 1e6, {}}},
       .variants = {},
       .complete = {},
       .display_of = {},
       .uses_low_fidelity = true,
       .plans = true,
       .algorithm_version = Bayes::kAlgorithmVersion,
       .build = build_bayes},
      {.name = "bayes-high",
       .display = "Bayes-high",
       .description = "the same without a low fidelity",
       .parameters = {optimism()},
       .variants = {},
       .complete = {},
       .display_of = {},
       .uses_low_fidelity = false,
       .plans = true,
       .algorithm_version = Bayes::kAlgorithmVersion,
       .build = build_bayes_high},
      {.name = "mfrl",
       .display = "MFRL",
       .description = "R-max in a chain of simulators, optimism from below (Cutler et al. 2014)",
       .parameters = mfrl_parameters(),
       .variants = {},
       .complete = check_bounds,
       .display_of = {},
       .uses_low_fidelity = true,
       .takes_several = true,
       .plans = true,
       .algorithm_version = Mfrl::kAlgorithmVersion,
       .build = build_mfrl},
      {.name = "rmax",
       .display = "R-max",
       .description = "R-max on the high fidelity alone (Brafman and Tennenholtz 2002)",
       .parameters = rmax_parameters(),
       .variants = {},
       .complete = check_bounds,
       .display_of = {},
       .uses_low_fidelity = false,
       .plans = true,
       .algorithm_version = Mfrl::kAlgorithmVersion,
       .build = build_rmax},
  };
}

}  // namespace hilo
