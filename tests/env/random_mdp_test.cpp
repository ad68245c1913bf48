#include "hilo/env/random_mdp.hpp"

#include <cmath>

#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

using testing::expect_error;

TEST(RandomMdp, DependsOnTheSeedAlone) {
  EXPECT_TRUE(testing::same_mdp(*testing::small_mdp(3), *testing::small_mdp(3)));
  EXPECT_FALSE(testing::same_mdp(*testing::small_mdp(3), *testing::small_mdp(4)));
}

TEST(RandomMdp, HasTheStructureOfThePaper) {
  const auto mdp = make_random_mdp({}, 1);
  EXPECT_EQ(mdp->num_states(), 200U);
  EXPECT_EQ(mdp->num_actions(), 8U);
  ASSERT_EQ(mdp->start_distribution().size(), 10U);
  EXPECT_EQ(mdp->start_distribution()[9].state, 9U);
  EXPECT_DOUBLE_EQ(mdp->start_distribution()[9].probability, 0.1);

  std::vector<Outcome> outcomes;
  double density = 0;
  double paying = 0;
  for (State s = 0; s < 199; ++s)
    for (Action a = 0; a < 8; ++a) {
      mdp->outcomes(s, a, outcomes);
      EXPECT_EQ(outcomes.back().next, 199U);
      EXPECT_DOUBLE_EQ(outcomes.back().probability, 0.1);
      density += static_cast<double>(outcomes.size() - 1) / 199;
      const double reward = mdp->expected_reward(s, a);
      EXPECT_GE(reward, 0);
      EXPECT_LE(reward, 1);
      paying += reward > 0 ? 1 : 0;
    }
  // The density of a row is 1 - U_ref, uniform: standard error sqrt(1/12 / 1592) = 0.0072. A reward
  // is paid with probability 1/2: standard error 0.0125. Five of each: false alarm 1e-6.
  EXPECT_NEAR(density / 1592, 0.5, 5 * 0.0072);
  EXPECT_NEAR(paying / 1592, 0.5, 5 * 0.0125);
}

TEST(RandomMdp, SmallestSizesWork) {
  const auto mdp = make_random_mdp({.states = 2, .actions = 1, .start_states = 1}, 1);
  EXPECT_EQ(mdp->num_nonzeros(), 3U);
}

TEST(RandomMdp, RejectsBadOptions) {
  const auto make = [](RandomMdpOptions o) { return [o] { make_random_mdp(o, 1); }; };
  expect_error(make({.states = 0}), Errc::spec, {"states is 0, but must be in [2, 20000]"});
  expect_error(make({.states = 1}), Errc::spec, {"states is 1"});
  expect_error(make({.actions = 0}), Errc::spec, {"actions is 0"});
  expect_error(make({.states = 20'000, .actions = 1000}), Errc::spec, {"states * actions"});
  expect_error(make({.terminal_probability = 0}), Errc::spec, {"terminal_probability is 0"});
  expect_error(make({.terminal_probability = 1}), Errc::spec, {"terminal_probability is 1"});
  expect_error(make({.terminal_probability = std::nan("")}), Errc::spec, {"is nan"});
  expect_error(make({.states = 5, .start_states = 5}), Errc::spec,
               {"start_states is 5, but must be in [1, 4]"});
  expect_error(make({.start_states = 0}), Errc::spec, {"start_states is 0"});
}

}  // namespace
}  // namespace hilo
