#include "hilo/agent/dyna_q.hpp"
#include "hilo/agent/expected_sarsa.hpp"
#include "hilo/agent/kinds.hpp"
#include "hilo/agent/low_only.hpp"
#include "hilo/agent/q_learning.hpp"
#include "hilo/agent/transfer.hpp"

namespace hilo {
namespace {

TdOptions td_options(const Parameters& p, const AgentSetting& setting) {
  return {.gamma = setting.gamma,
          .epsilon = setting.epsilon,
          .step_exponent = p.number("step_exponent"),
          .step_size = p.number("step_size")};
}

LowLearning low_learning(const Parameters& p, const AgentSetting& setting) {
  return {.low_steps = static_cast<std::uint64_t>(p.integer("low_steps")),
          .max_steps = setting.max_steps};
}

// Even-Dar and Mansour (2003) find polynomial steps with an exponent near 0.8 best for Q-learning.
std::vector<ParameterInfo> with_steps(double step_size, std::vector<ParameterInfo> others = {}) {
  std::vector<ParameterInfo> all = {
      {"step_exponent", "p: the n-th update of a pair has the step size n^-p", 0.8, 0, 1, {}},
      {"step_size", "of all updates; 0: n^-p", step_size, 0, 1, {}}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

ParameterInfo low_steps() {
  return {"low_steps",
          "steps in the low fidelity before the first episode",
          std::int64_t{10'000'000},
          1,
          1e12,
          {}};
}

}  // namespace

std::vector<AgentKind> temporal_difference_kinds() {
  return {
      {.name = "q-learning",
       .display = "Q-learning",
       .description = "Q-learning on the high fidelity alone",
       .parameters = with_steps(0),
       .variants = {},
       .complete = {},
       .display_of = {},
       .uses_low_fidelity = false,
       .plans = false,
       .algorithm_version = QLearning::kAlgorithmVersion,
       .build =
           [](const Fidelities& pair, const Parameters& p, const AgentSetting& setting) {
             return std::unique_ptr<TabularAgent>(std::make_unique<QLearning>(
                 pair.high().num_states(), pair.num_actions(), td_options(p, setting)));
           }},
      {.name = "expected-sarsa",
       .display = "expected Sarsa",
       .description = "expected Sarsa on the high fidelity alone",
       .parameters = with_steps(0),
       .variants = {},
       .complete = {},
       .display_of = {},
       .uses_low_fidelity = false,
       .plans = false,
       .algorithm_version = ExpectedSarsa::kAlgorithmVersion,
       .build =
           [](const Fidelities& pair, const Parameters& p, const AgentSetting& setting) {
             return std::unique_ptr<TabularAgent>(std::make_unique<ExpectedSarsa>(
                 pair.high().num_states(), pair.num_actions(), td_options(p, setting)));
           }},
      {.name = "dyna-q",
       .display = "Dyna-Q",
       .description = "Q-learning that plans with the low fidelity as its model",
       .parameters = with_steps(0.1, {{"planning_steps",
                                       "low-fidelity steps after each of the high fidelity",
                                       std::int64_t{10},
                                       0,
                                       1'000'000,
                                       {}}}),
       .variants = {},
       .complete = {},
       .display_of = {},
       .uses_low_fidelity = true,
       .plans = false,
       .algorithm_version = DynaQ::kAlgorithmVersion,
       .build =
           [](const Fidelities& pair, const Parameters& p, const AgentSetting& setting) {
             return std::unique_ptr<TabularAgent>(std::make_unique<DynaQ>(
                 pair, td_options(p, setting),
                 static_cast<std::uint32_t>(p.integer("planning_steps")), setting.seed));
           }},
      {.name = "transfer",
       .display = "transfer",
       .description = "Q-learning that starts from values learnt in the low fidelity",
       .parameters = with_steps(
           0, {low_steps(),
               {"prior_count", "updates that the first values count for", 10.0, 0, 1e9, {}}}),
       .variants = {},
       .complete = {},
       .display_of = {},
       .uses_low_fidelity = true,
       .plans = false,
       .algorithm_version = Transfer::kAlgorithmVersion,
       .build =
           [](const Fidelities& pair, const Parameters& p, const AgentSetting& setting) {
             return std::unique_ptr<TabularAgent>(
                 std::make_unique<Transfer>(pair, td_options(p, setting), low_learning(p, setting),
                                            p.number("prior_count"), setting.seed));
           }},
      {.name = "low-only",
       .display = "low only",
       .description = "learns in the low fidelity and acts in the high one",
       .parameters = with_steps(0, {low_steps()}),
       .variants = {},
       .complete = {},
       .display_of = {},
       .uses_low_fidelity = true,
       .plans = false,
       .algorithm_version = LowOnly::kAlgorithmVersion,
       .build =
           [](const Fidelities& pair, const Parameters& p, const AgentSetting& setting) {
             return std::unique_ptr<TabularAgent>(std::make_unique<LowOnly>(
                 pair, td_options(p, setting), low_learning(p, setting), setting.seed));
           }},
  };
}

}  // namespace hilo
