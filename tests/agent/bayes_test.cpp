#include "hilo/agent/bayes.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/env/docking.hpp"
#include "hilo/exact/evaluate.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"
#include "support/train.hpp"

namespace hilo {
namespace {

using testing::expect_error;

Fidelities four_states_twice() {
  const auto simulator = make_simulator(testing::four_states());
  return {simulator, simulator};
}

// The low fidelity ends after 2 of its 6 pairs, always: 20 of 60 steps, so that the base has a
// chance of 20.5/61. It pays 1 for (0,0), which leads to 1.
// One step of the high fidelity is seen: (0,0) leads to 1 and pays 7. Strengths are those to begin
// with: (100, 1) for 95 % of the rows, (0, 1) for the others.
TEST(BayesModel, MatchesTheHandComputedBelief) {
  constexpr double kEnd = 20.5 / 61;
  BayesModel model(four_states_twice(), /*use_low=*/true);
  EXPECT_EQ(model.learn_low(/*samples=*/10, /*seed=*/1), 60U);
  const auto before = model.belief(0, 0);
  EXPECT_NEAR(before.end, kEnd * (0.95 / 101 + 0.05), 1e-12);
  EXPECT_NEAR(before.reward, 1, 1e-12);

  int links = 0;
  model.observe({{0, 1}, {0}, {7}, true}, [&](State s, State next) {
    EXPECT_EQ(s, 0U);
    EXPECT_EQ(next, 1U);
    ++links;
  });
  EXPECT_EQ(links, 1);
  const auto after = model.belief(0, 0);
  // That it goes on was foretold with (100 + base) / 101, and by the base. What was foretold is
  // kept in single precision.
  const double main = 0.95 * (100 + 1 - kEnd) / 101, other = 0.05 * (1 - kEnd);
  const double base = (main / 102 + other / 2) / (main + other);
  EXPECT_NEAR(after.end, base * kEnd, 1e-8);
  // 7 = 1 by the low fidelity + 6 of the pair's own; without noise one look suffices.
  EXPECT_NEAR(after.reward, 7, 1e-12);
  EXPECT_EQ(after.reward_variance, after.end * after.end * 0);
  // That it leads to 1 was foretold with (100 + 1/4) / 101, and by the base with 1/4.
  const double right = 0.95 * (100 + 0.25) / 101, by_base = 0.05 * 0.25;
  EXPECT_NEAR(after.successor.low, right * 100 / 102 / (right + by_base), 1e-8);
  EXPECT_NEAR(after.successor.count, (right / 102 + by_base / 2) / (right + by_base), 1e-8);
  EXPECT_EQ(model.visits(0, 0), 1U);
  EXPECT_EQ(model.visits(0, 1), 0U);
}

TEST(BayesModel, ManyVisitsOutvoteThePrior) {
  BayesModel model(four_states_twice(), true);
  model.learn_low(10, 1);
  // Where the low fidelity leads from 0 to 1, the high fidelity ends every second time.
  for (int k = 0; k < 500; ++k) {
    model.observe({{0, 1}, {0}, {1}, true}, [](State, State) {});
    model.observe({{0, 3}, {0}, {1}, false}, [](State, State) {});
  }
  model.refit();
  EXPECT_NEAR(model.belief(0, 0).end, 0.5, 0.01);
}

// A perfect low fidelity: optimal before the first expensive episode.
TEST(Bayes, StartsOptimalWithAPerfectSimulator) {
  const auto mdp = testing::small_mdp(1);
  const auto simulator = make_simulator(mdp);
  Bayes agent({simulator, simulator}, {}, 1);
  EXPECT_EQ(agent.prepare().low_steps, 1000U * 11 * 3);
  const auto value = [&](const Behaviour& policy) {
    return start_value(*mdp, evaluate_policy(*mdp, policy_matrix(policy), 0.99).v);
  };
  EXPECT_GT(value(agent.greedy()), 0.99 * value(testing::optimal_q(*mdp, 0.99).behaviour(0)));
}

TEST(Bayes, KeepsToItsLowFidelityBudget) {
  const auto simulator = make_simulator(testing::small_mdp(1));  // 36 pairs, 33 of them alive
  const auto steps = [&](const BayesOptions& options) {
    return Bayes({simulator, simulator}, options, 1).prepare().low_steps;
  };
  EXPECT_EQ(steps({.low_steps = 360}), 10U * 33);
  EXPECT_EQ(steps({.low_steps = 10}), 33U);  // at least one each
  EXPECT_EQ(steps({.use_low = false}), 0U);
}

// T takes two states to one: what is seen tells them apart. From state 0 it always goes to 1, never
// to 2, although T takes both to the low state 1. State 1 ends with 1, state 2 with -1.
TEST(Bayes, TellsApartWhatTheMapDoesNot) {
  const State terminal = 3, low_terminal = 2;
  const double one = 1;
  const auto row = [&](TabularBuilder& builder, State next, double reward) {
    builder.add_row({&next, 1}, {&one, 1}, reward);
  };
  TabularBuilder high(4, 1, {&terminal, 1}), low(3, 1, {&low_terminal, 1});
  row(high, 1, 0);
  row(high, 3, 1);
  row(high, 3, -1);
  high.add_absorbing_row();
  row(low, 1, 0);
  row(low, 2, 0);
  low.add_absorbing_row();
  const StartProbability start[] = {{0, 0.5}, {2, 0.5}}, low_start[] = {{0, 1}};
  const auto simulator = make_simulator(high.build(start));
  Bayes agent({simulator, make_simulator(low.build(low_start)), StateMap({0, 1, 1, 2}, 3)},
              {.gamma = 0.9}, 1);
  agent.prepare();
  const double before = agent.q()(0, 0);
  testing::train(agent, *simulator, 1, 0, 400);
  EXPECT_NEAR(before, 0, 0.05);
  EXPECT_NEAR(agent.q()(0, 0), 0.9, 0.05);
  EXPECT_NEAR(agent.q()(1, 0), 1, 0.05);
  EXPECT_NEAR(agent.q()(2, 0), -1, 0.05);
}

// Nothing in docking pays more than 1, and that ends it: no value may exceed it, however wrong the
// prior. Where the coarse grid always docks, going on must not pay what docking pays.
TEST(Bayes, ValuesStayWithinWhatCanBeEarned) {
  const DockingOptions options = {.cells = 6};
  const auto high = make_docking(options, 0);
  Bayes agent(make_docking_pair(options, 0, high), {}, 0);
  agent.prepare();
  for (std::uint32_t k = 0; k < 200; k += 20) {
    testing::train(agent, *high, 0, k, k + 20);
    EXPECT_LE(*std::ranges::max_element(agent.q().values()), 1) << k;
  }
}

// Without the low fidelity nothing of it matters: neither its states, nor T, nor its ends.
TEST(Bayes, WithoutTheLowFidelityItDoesNotMatter) {
  const auto high = make_simulator(testing::small_mdp(1, 7, 2));
  const auto run = [&](const Fidelities& pair) {
    Bayes agent(pair, {.use_low = false}, 1);
    testing::train(agent, *high, 1, 0, 100);
    return std::vector<double>(agent.q().values().begin(), agent.q().values().end());
  };
  const auto other = make_simulator(testing::four_states());
  EXPECT_EQ(run({high, high}), run({high, other, StateMap({0, 0, 1, 1, 2, 3, 3}, 4)}));
}

// A terminal state is worth nothing, whether or not a low fidelity says that it is one.
TEST(Bayes, FindsOutWhereEpisodesEnd) {
  const auto high = make_simulator(testing::small_mdp(1));
  Bayes agent({high, high}, {.use_low = false}, 1);
  testing::train(agent, *high, 1, 0, 20);
  for (Action a = 0; a < 3; ++a) EXPECT_EQ(agent.q()(11, a), 0);
}

// Six of eight steps repeat what the episode had done before. The share fades with the number of
// episodes that were cut, and an episode that ended leaves nothing of it.
TEST(Bayes, ActsAtRandomAfterItWentInCircles) {
  const auto high = make_simulator(testing::small_mdp(1));
  for (const bool use_low : {true, false}) {
    Bayes agent({high, high}, {.use_low = use_low}, 1);
    EXPECT_EQ(agent.behaviour().epsilon, 0);
    const Episode circles = {{0, 1, 0, 1, 0, 1, 0, 1, 0},
                             {0, 1, 0, 1, 0, 1, 0, 1},
                             {0, 0, 0, 0, 0, 0, 0, 0},
                             /*truncated=*/true};
    agent.learn(circles);
    EXPECT_DOUBLE_EQ(agent.behaviour().epsilon, 0.75);
    agent.learn(circles);
    EXPECT_DOUBLE_EQ(agent.behaviour().epsilon, 0.75 * 10 / 11);
    Bayes loaded({high, high}, {.use_low = use_low}, 1);
    loaded.load(agent.save());
    EXPECT_EQ(loaded.behaviour().epsilon, agent.behaviour().epsilon);
    agent.learn({{0, 11}, {0}, {0}, /*truncated=*/false});
    EXPECT_EQ(agent.behaviour().epsilon, 0);
  }
}

TEST(Bayes, RejectsBadOptions) {
  const Fidelities pair = four_states_twice();
  expect_error([&] { Bayes(pair, {.gamma = 1}, 1); }, Errc::spec, {"gamma"});
  expect_error([&] { Bayes(pair, {.optimism = -1}, 1); }, Errc::spec, {"optimism is -1"});
  expect_error([&] { Bayes(pair, {.low_steps = 0}, 1); }, Errc::spec, {"low_steps is 0"});
}

}  // namespace
}  // namespace hilo
