#include "hilo/rollout/walker.hpp"

#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

using testing::expect_error;

TEST(Walker, TakesTheStepsOfARunEpisode) {
  const auto simulator = make_simulator(testing::small_mdp(3));
  Walker walker(simulator, 7);
  const QTable uniform(simulator->num_states(), simulator->num_actions());
  for (std::uint32_t k = 0; k < 20; ++k) {
    Episode episode;
    simulator->run_episode(uniform.behaviour(1),
                           {.seed = 7, .purpose = Purpose::user, .episode = k}, {.max_steps = 1000},
                           episode);
    ASSERT_EQ(walker.reset(), episode.states[0]);
    for (std::size_t t = 0; t < episode.length(); ++t) {
      const Step step = walker.step(episode.actions[t]);
      ASSERT_EQ(step.next, episode.states[t + 1]);
      ASSERT_EQ(step.reward, episode.rewards[t]);
      ASSERT_EQ(step.done, episode.ends_at(t));
    }
    EXPECT_EQ(walker.steps(), episode.length());
  }
  walker.set_seed(7);
  Walker again(simulator, 7);
  EXPECT_EQ(walker.reset(), again.reset());
}

TEST(Walker, StartsWhereItIsPutAndRefusesWhatMakesNoSense) {
  const auto simulator = make_simulator(testing::line_mdp());
  Walker walker(simulator);
  expect_error([&] { walker.step(0); }, Errc::usage, {"call reset"});
  walker.reset_to(1);
  EXPECT_EQ(walker.state(), 1U);
  expect_error([&] { walker.step(99); }, Errc::usage, {"action is 99"});
  expect_error([&] { walker.reset_to(99); }, Errc::usage, {"state is 99"});
  while (!walker.step(0).done) {
  }
  expect_error([&] { walker.step(0); }, Errc::usage, {"the episode is over"});
}

}  // namespace
}  // namespace hilo
