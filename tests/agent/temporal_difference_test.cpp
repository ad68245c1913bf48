#include <cmath>

#include "hilo/agent/dyna_q.hpp"
#include "hilo/agent/expected_sarsa.hpp"
#include "hilo/agent/low_only.hpp"
#include "hilo/agent/q_learning.hpp"
#include "hilo/agent/transfer.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"
#include "support/train.hpp"

namespace hilo {
namespace {

using testing::expect_error;

const Episode kEpisode = {{0, 1, 2}, {1, 0}, {4, 8}, false};

// gamma = step = 1/2. First: (0,1) has the target 4 + 0/2, (1,0) the target 8. Second: 4 + 4/2.
TEST(QLearning, MatchesTheHandComputedUpdates) {
  QLearning agent(3, 2, {.gamma = 0.5, .step_size = 0.5});
  agent.learn(kEpisode);
  EXPECT_EQ(agent.q()(0, 1), 2);
  EXPECT_EQ(agent.q()(1, 0), 4);
  agent.learn(kEpisode);
  EXPECT_EQ(agent.q()(0, 1), 4);
  EXPECT_EQ(agent.q()(1, 0), 6);
  // A truncated episode goes on: the target is 4 + 6/2.
  agent.learn({{0, 1}, {1}, {4}, true});
  EXPECT_EQ(agent.q()(0, 1), 5.5);
  EXPECT_EQ(agent.q()(0, 0), 0);
  EXPECT_EQ(agent.episodes(), 3U);
  EXPECT_TRUE(std::isinf(agent.standard_error(0, 1)));
}

// Step sizes 1, 1/sqrt(2), 1/sqrt(3): targets 3, 6, 9 in a one-step problem.
TEST(QLearning, StepSizesFallAsAPower) {
  QLearning agent(2, 1, {.step_exponent = 0.5});
  double q = 0;
  for (const double n : {1.0, 2.0, 3.0}) {
    agent.learn({{0, 1}, {0}, {3 * n}, false});
    q += (3 * n - q) / std::sqrt(n);
    EXPECT_NEAR(agent.q()(0, 0), q, 1e-14);
  }
}

TEST(QLearning, RejectsBadOptions) {
  expect_error([] { QLearning(3, 2, {.gamma = 1.5}); }, Errc::spec, {"gamma is 1.5"});
  expect_error([] { QLearning(3, 2, {.step_size = 2}); }, Errc::spec, {"step_size is 2"});
  expect_error([] { QLearning(3, 2, {.step_exponent = -1}); }, Errc::spec, {"step_exponent is -1"});
  QLearning agent(3, 2, {});
  expect_error([&] { agent.learn({{0, 5}, {0}, {1}, false}); }, Errc::simulator, {"is 5"});
}

// epsilon = gamma = 1/2, step 1. After the first episode Q(1, .) = 8, 0, so that the epsilon-greedy
// policy is worth 8/2 + (8 + 0)/4 = 6 there: (0,1) gets 4 + 6/2.
TEST(ExpectedSarsa, MatchesTheHandComputedUpdates) {
  ExpectedSarsa agent(3, 2, {.gamma = 0.5, .epsilon = 0.5, .step_size = 1});
  agent.learn(kEpisode);
  EXPECT_EQ(agent.q()(0, 1), 4);
  EXPECT_EQ(agent.q()(1, 0), 8);
  agent.learn(kEpisode);
  EXPECT_EQ(agent.q()(0, 1), 7);
}

// gamma = step = 1/2, one step of planning, and only (1,0) seen. The step: Q = 4/2. The plan: the
// low fidelity pays 3 and goes to state 2, where nothing is known: Q = 2 + (3 - 2)/2.
TEST(DynaQ, MatchesTheHandComputedUpdates) {
  const auto simulator = make_simulator(testing::four_states());
  DynaQ agent(Fidelities(simulator, simulator), {.gamma = 0.5, .step_size = 0.5}, 1, /*seed=*/1);
  EXPECT_EQ(agent.learn({{1, 3}, {0}, {4}, false}).low_steps, 1U);
  EXPECT_EQ(agent.q()(1, 0), 2.5);
  EXPECT_EQ(agent.q()(1, 1), 0);
}

// In the deterministic problem of four states with gamma = 1/2: V(2) = 5, and from
// V(0) = max(1 + V(1)/2, 2 + 5/2), V(1) = max(3 + 5/2, 4 + V(0)/2): V(0) = 4.5, V(1) = 6.25.
TEST(LowOnly, ActsByTheValuesOfTheLowFidelity) {
  const auto low = make_simulator(testing::four_states());
  // Two high-fidelity states for each of the low ones but the last.
  const auto high = make_simulator(testing::small_mdp(1, 7, 2));
  LowOnly agent({high, low, StateMap({0, 0, 1, 1, 2, 2, 3}, 4)}, {.gamma = 0.5, .step_size = 1},
                {.low_steps = 2000}, /*seed=*/1);
  const std::uint64_t steps = agent.prepare().low_steps;
  EXPECT_GE(steps, 2000U);
  EXPECT_LT(steps, 2100U);
  for (State s = 0; s < 2; ++s) {
    EXPECT_EQ(agent.q()(s, 0), 1 + 6.25 / 2);
    EXPECT_EQ(agent.q()(s, 1), 4.5);
    EXPECT_EQ(agent.q()(2 + s, 0), 5.5);
    EXPECT_EQ(agent.q()(2 + s, 1), 6.25);
    EXPECT_EQ(agent.q()(4 + s, 0), 5);
  }
  agent.learn({{0, 6}, {0}, {1000}, false});
  EXPECT_EQ(agent.q()(0, 0), 1 + 6.25 / 2);  // whatever the high fidelity says
  EXPECT_EQ(agent.episodes(), 1U);
}

// prior_count = 3 and steps 1/n: the first update in the high fidelity has the step 1/4.
TEST(Transfer, StartsFromTheLowFidelityAndGoesOn) {
  const auto simulator = make_simulator(testing::four_states());
  Transfer agent(Fidelities(simulator, simulator), {.gamma = 0.5, .step_exponent = 1},
                 {.low_steps = 2000}, /*prior_count=*/3, /*seed=*/1);
  agent.prepare();
  const double start = agent.q()(1, 0);
  EXPECT_GT(start, 3);  // the reward alone
  agent.learn({{1, 3}, {0}, {9.5}, false});
  EXPECT_NEAR(agent.q()(1, 0), start + (9.5 - start) / 4, 1e-12);
}

TEST(Transfer, RejectsBadOptions) {
  const auto simulator = make_simulator(testing::four_states());
  const Fidelities pair(simulator, simulator);
  expect_error([&] { Transfer(pair, {}, {.low_steps = 0}, 1, 1); }, Errc::spec, {"low_steps is 0"});
  expect_error([&] { Transfer(pair, {}, {}, -1, 1); }, Errc::spec, {"prior_count is -1"});
  expect_error([&] { DynaQ(pair, {}, 2'000'000, 1); }, Errc::spec, {"planning_steps is 2000000"});
}

}  // namespace
}  // namespace hilo
