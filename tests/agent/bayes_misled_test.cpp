// A cheap simulator that misleads must not cost more than a delay. Each problem is one of
// support/sequential_problems.hpp; the levels that are asked for lie at least three standard errors
// below what was measured on 24 other runs, and far above what an agent reaches that believes its
// prior for ever (given with each).
#include <gtest/gtest.h>

#include "hilo/agent/bayes.hpp"
#include "hilo/exact/solve.hpp"
#include "support/sequential_problems.hpp"

namespace hilo {
namespace {

using testing::Maze;
using testing::SequentialProblem;

const SequentialProblem& problem(const std::string& name) {
  static const std::vector<SequentialProblem> all = testing::sequential_problems();
  return *std::ranges::find(all, name, &SequentialProblem::name);
}

// The mean over seeds of the greedy policy's exact value, in per cent of optimal minus uniform.
double level(const SequentialProblem& p, std::uint32_t episodes, std::uint64_t seeds) {
  const Model& model = *p.pair.high().model();
  const auto value = [&](const Behaviour& policy) {
    return evaluate_from_start(model, policy_matrix(policy), p.gamma, 0).value;
  };
  const double uniform = value(QTable(model.num_states(), model.num_actions()).behaviour(1));
  const double optimal = start_value(model, policy_iteration(model, p.gamma).values.v);
  double sum = 0;
  for (std::uint64_t seed = 100; seed < 100 + seeds; ++seed) {
    Bayes agent(p.pair, {.gamma = p.gamma}, seed);
    agent.prepare();
    Episode episode;
    for (std::uint32_t k = 0; k < episodes; ++k) {
      p.pair.high().run_episode(agent.behaviour(),
                                {.seed = seed, .purpose = Purpose::high_episode, .episode = k},
                                {.max_steps = p.max_steps}, episode);
      agent.learn(episode);
    }
    sum += (value(agent.greedy()) - uniform) / (optimal - uniform);
  }
  return 100 * sum / static_cast<double>(seeds);
}

// The one pair that pays is said to cost, and all others pay nothing in either: 1 % for ever.
TEST(BayesMisled, TriesWhatASignIsWrongOf) {
  EXPECT_GT(level(problem("river-flipped"), 100, 4), 99);
}

// Every way passes a cell that the cheap maze calls the end: 69 % after 100 episodes.
TEST(BayesMisled, PassesAnEndThatIsNone) {
  EXPECT_GT(level(problem("maze-trap-on-the-only-way-in-low"), 100, 4), 98);
}

// Another maze altogether: 30 % after 20 episodes, because what is left of it breaks all ties. The
// standard error of the mean of 8 is 7.
TEST(BayesMisled, DoesNotLetAnUnrelatedMazeBreakTies) {
  EXPECT_GT(level(problem("maze-unrelated"), 20, 8), 70);
}

// A door where the cheap maze has a wall: 89 % for ever.
TEST(BayesMisled, FindsADoorThatTheCheapMazeDoesNotHave) {
  EXPECT_GT(level(problem("maze-door-in-high"), 100, 8), 99);
}

// A goal where there is none: 87 % after 100 episodes.
TEST(BayesMisled, GivesUpAGoalThatIsNone) {
  EXPECT_GT(level(problem("maze-goal-in-low"), 100, 4), 98);
}

// Cells 0, 1, 2 in a row. The cheap maze ends in cell 1, whatever one does; the expensive one goes
// on from there. Once it was left, no way into it is thought to end, tried or not.
TEST(BayesMisled, WhatWasLeftIsNoEnd) {
  const Maze high = {.map = {"S..G", "S..."}}, low = {.map = {"Sx.G", "S..."}};
  BayesModel model(testing::pair_of(testing::make_maze(high), testing::make_maze(low)), true);
  model.learn_low(/*samples=*/100, /*seed=*/1);
  const Action up = 0, right = 1;
  EXPECT_GT(model.belief(0, right).end, 0.9);
  EXPECT_GT(model.belief(5, up).end, 0.9);
  const auto no_link = [](State, State) {};
  model.observe({{0, 1, 2}, {right, right}, {-0.02, -0.02}, /*truncated=*/true}, no_link);
  EXPECT_TRUE(model.take_correction());
  EXPECT_FALSE(model.take_correction());
  EXPECT_LT(model.belief(5, up).end, 0.02);  // never tried
  EXPECT_EQ(model.low_chance(5, up, 1), 1);  // it leads there
  EXPECT_LT(model.belief(5, up).reward_variance, 1);
}

// Nothing is heeded of what would be unknown without the low fidelity until the pairs of the states
// seen could have been tried three times: 2 states of 4 actions, so after 24 steps.
TEST(BayesMisled, IsPatientForAWhile) {
  const Maze maze = {.map = {"S.G"}};
  const auto mdp = testing::make_maze(maze);
  BayesModel model(testing::pair_of(mdp, mdp), true);
  model.learn_low(10, 1);
  const auto step_back_and_forth = [&](int times) {
    for (int k = 0; k < times; ++k)
      model.observe({{0, 1, 0}, {1, 3}, {-0.02, -0.02}, true}, [](State, State) {});
    model.refit();
  };
  EXPECT_FALSE(model.patience_is_over());
  step_back_and_forth(11);
  EXPECT_FALSE(model.patience_is_over());
  step_back_and_forth(1);
  EXPECT_TRUE(model.patience_is_over());
  // Of pairs never tried it is then believed without the low fidelity what is believed of all.
  const auto one = model.belief_alone(0, 0), other = model.belief_alone(1, 2);
  EXPECT_EQ(one.reward, other.reward);
  EXPECT_EQ(one.reward_variance, other.reward_variance);
  EXPECT_EQ(one.end, other.end);
  EXPECT_EQ(one.successor.low, 0);
  EXPECT_GT(one.reward_variance, model.belief(0, 0).reward_variance);
}

}  // namespace
}  // namespace hilo
