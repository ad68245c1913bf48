// Agents that claim to converge find the optimum of a problem where the future matters.
#include <gtest/gtest.h>

#include "hilo/agent/catalogue.hpp"
#include "hilo/exact/evaluate.hpp"
#include "hilo/exact/policy_matrix.hpp"
#include "support/problems.hpp"
#include "support/train.hpp"

namespace hilo {
namespace {

// Five states: 0 to 3, and the end. Action 0 takes `cash` and ends; action 1 goes on with
// probability `forward`, and from 3 to the end for `prize`.
std::shared_ptr<const TabularMdp> river(double cash, double forward, double prize) {
  const State terminal = 4;
  TabularBuilder builder(5, 2, {&terminal, 1});
  const double one = 1;
  for (State s = 0; s < 4; ++s) {
    builder.add_row({&terminal, 1}, {&one, 1}, cash);
    const State next[] = {s, s + 1};
    const double p[] = {1 - forward, forward};
    builder.add_row(next, p, s == 3 ? prize * forward : 0);
  }
  builder.add_absorbing_row();
  builder.add_absorbing_row();
  const StartProbability start[] = {{0, 1}};
  return builder.build(start);
}

// mcrl and mfmcrl are left out: their policies stay epsilon-soft and so do their values. dyna-q and
// low-only believe the low fidelity.
TEST(Convergence, ReachesTheOptimumWithinOnePerCent) {
  const auto mdp = river(0.2, 0.7, 1);
  const auto high = make_simulator(mdp);
  const auto low = make_simulator(river(0.25, 0.5, 0.8));
  const double gamma = 0.9;
  const auto value = [&](const Behaviour& policy) {
    return start_value(*mdp, evaluate_policy(*mdp, policy_matrix(policy), gamma).v);
  };
  const double optimum = value(testing::optimal_q(*mdp, gamma).behaviour(0));
  EXPECT_GT(optimum, 0.5);  // against 0.2 at once
  for (const char* name :
       {"q-learning", "expected-sarsa", "transfer", "bayes", "bayes-high", "mfrl", "rmax"})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
      const AgentKind& kind = agent_kind(name);
      std::map<std::string, Value> given;
      for (const ParameterInfo& info : kind.parameters)
        if (info.name == "low_steps") given["low_steps"] = std::int64_t{20'000};
      const auto agent = kind.build(
          {high, low}, Parameters(name, kind.parameters, given),
          {.gamma = gamma, .epsilon = 0.3, .max_steps = 1000, .seed = seed, .pilot_episodes = 0});
      testing::train(*agent, *high, seed, 0, 5000);
      EXPECT_GE(value(agent->greedy()), 0.99 * optimum);
    }
}

}  // namespace
}  // namespace hilo
