#include "hilo/agent/exploration.hpp"

#include <gtest/gtest.h>

#include "hilo/agent/mcrl.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

using testing::expect_error;

// Greedy with probability 1 - eps + eps / A, otherwise any of A: eps (A - 1) / A.
TEST(Exploration, OfThePublishedRunsDrawsLessOften) {
  EXPECT_EQ(chance_of_uniform_action(Exploration::standard, 0.1, 8), 0.1);
  EXPECT_DOUBLE_EQ(chance_of_uniform_action(Exploration::as_published, 0.1, 8), 0.0875);
  EXPECT_EQ(chance_of_uniform_action(Exploration::as_published, 0.1, 1), 0);
  EXPECT_EQ(chance_of_uniform_action(Exploration::as_published, 0, 8), 0);
}

TEST(Exploration, HasNames) {
  for (const Exploration e : {Exploration::standard, Exploration::as_published})
    EXPECT_EQ(exploration_from_name(name_of(e)), e);
  expect_error([] { exploration_from_name("published"); }, Errc::spec,
               {"exploration is 'published'", "standard or as-published"});
}

TEST(Exploration, ActsInBothFidelities) {
  Mcrl mcrl(3, 2, {.epsilon = 0.2, .exploration = Exploration::as_published});
  EXPECT_EQ(mcrl.behaviour().epsilon, 0.1);
  EXPECT_EQ(mcrl.greedy().epsilon, 0);
  const auto simulator = make_simulator(testing::line_mdp());
  for (const LowBehaviour low : {LowBehaviour::policy, LowBehaviour::action_0}) {
    const Mfmcrl mfmcrl(
        {simulator, simulator},
        {.epsilon = 0.2, .low_policy = low, .exploration = Exploration::as_published}, 0);
    EXPECT_EQ(mfmcrl.behaviour().epsilon, 0.1);
    EXPECT_EQ(mfmcrl.low_behaviour().epsilon, 0.1);
  }
}

// A state saved under one exploration must not go on under the other.
TEST(Exploration, IsPartOfASavedState) {
  const Mcrl standard(3, 2, {});
  Mcrl published(3, 2, {.exploration = Exploration::as_published});
  expect_error([&] { published.load(standard.save()); }, Errc::data, {"exploration"});
}

}  // namespace
}  // namespace hilo
