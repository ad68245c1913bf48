#include "hilo/agent/mcrl.hpp"

#include <cmath>

#include "support/expect_error.hpp"
#include "support/problems.hpp"
#include "support/train.hpp"

namespace hilo {
namespace {

using testing::expect_error;

// gamma = 1/2. First episode: (0,1) twice, the first visit returns 1 + (2 + 4/2)/2 = 3; (1,0) 4.
// Second: (0,1) returns 7, so that its mean is 5.
TEST(Mcrl, AveragesFirstVisitReturns) {
  Mcrl agent(3, 2, {.gamma = 0.5});
  agent.learn({{0, 0, 1, 2}, {1, 1, 0}, {1, 2, 4}, false});
  EXPECT_EQ(agent.q()(0, 1), 3);
  EXPECT_EQ(agent.q()(1, 0), 4);
  EXPECT_EQ(agent.returns(0, 1).count(), 1U);
  agent.learn({{0, 2}, {1}, {7}, false});
  EXPECT_EQ(agent.q()(0, 1), 5);
  EXPECT_EQ(agent.q()(0, 0), 0);
  EXPECT_EQ(agent.episodes(), 2U);
  EXPECT_EQ(agent.behaviour().epsilon, 0.1);
  EXPECT_EQ(agent.greedy().epsilon, 0);
}

TEST(Mcrl, FindsTheOptimumOfASmallProblem) {
  const auto mdp = testing::line_mdp();
  const auto simulator = make_simulator(mdp);
  Mcrl agent(3, 2, {.gamma = 0.5});
  testing::train(agent, *simulator, 1, 0, 5000);
  EXPECT_EQ(agent.q().greedy_actions(0)[0], 0U);
  EXPECT_EQ(agent.q().greedy_actions(1)[0], 1U);
}

TEST(Mcrl, RejectsBadOptionsAndEpisodes) {
  expect_error([] { Mcrl(3, 2, {.gamma = 1.5}); }, Errc::spec, {"gamma is 1.5"});
  expect_error([] { Mcrl(3, 2, {.epsilon = -0.1}); }, Errc::spec, {"epsilon is -0.1"});
  expect_error([] { Mcrl(3, 2, {.epsilon = std::nan("")}); }, Errc::spec, {"epsilon is nan"});
  expect_error([] { Mcrl(0, 2, {}); }, Errc::spec, {"number of states is 0"});
  Mcrl agent(3, 2, {});
  expect_error([&] { agent.learn({{0, 5}, {0}, {1}, false}); }, Errc::simulator, {"is 5"});
  EXPECT_EQ(agent.episodes(), 0U);
}

}  // namespace
}  // namespace hilo
