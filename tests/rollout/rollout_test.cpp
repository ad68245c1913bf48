#include <cmath>

#include "hilo/model/transition_counts.hpp"
#include "hilo/rollout/check_episode.hpp"
#include "hilo/rollout/first_visits.hpp"
#include "hilo/rollout/returns.hpp"
#include "hilo/rollout/shadow.hpp"
#include "hilo/rollout/single_steps.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

Episode make_episode(std::vector<State> states, std::vector<Action> actions,
                     std::vector<double> rewards) {
  return {std::move(states), std::move(actions), std::move(rewards), false};
}

TEST(Returns, MatchAHandComputedCase) {
  std::vector<double> returns;
  discounted_returns(std::vector<double>{1, 2, 4}, 0.5, returns);
  EXPECT_EQ(returns, (std::vector<double>{3, 4, 4}));
  discounted_returns({}, 0.5, returns);
  EXPECT_TRUE(returns.empty());
}

TEST(FirstVisits, FindsFirstOccurrencesAndForgetsTheLastEpisode) {
  FirstVisits visits(3, 2);
  const Episode episode = make_episode({0, 1, 0, 0, 2}, {1, 0, 1, 0}, {0, 0, 0, 0});
  for (int round = 0; round < 2; ++round) {
    const auto steps = visits.find(episode);
    EXPECT_EQ(std::vector<std::uint32_t>(steps.begin(), steps.end()),
              (std::vector<std::uint32_t>{0, 1, 3}));
  }
}

TEST(Shadow, MapsStatesAndAsksTheLowFidelityForRewards) {
  const auto high = make_simulator(testing::small_mdp(1, 5, 2));
  const auto low = make_simulator(testing::line_mdp());
  const Fidelities pair(high, low, StateMap({0, 1, 0, 1, 2}, 3));
  Episode image;
  shadow(pair, make_episode({2, 3, 4}, {1, 0}, {100, 200}), image);
  EXPECT_EQ(image.states, (std::vector<State>{0, 1, 2}));
  EXPECT_EQ(image.actions, (std::vector<Action>{1, 0}));
  EXPECT_EQ(image.rewards, (std::vector<double>{2, 4}));
}

TEST(TransitionCounts, CountsSavesAndLoads) {
  TransitionCounts counts(2);
  EXPECT_TRUE(counts.add(1, 4));
  EXPECT_FALSE(counts.add(1, 4));
  EXPECT_TRUE(counts.add(1, 0));
  EXPECT_EQ(counts.count(1, 4), 2U);
  EXPECT_EQ(counts.count(1, 3), 0U);
  EXPECT_EQ(counts.row(0).size(), 0U);
  ArchiveWriter out("test", 1);
  counts.save(out);
  const auto bytes = out.finish();
  TransitionCounts loaded(2);
  ArchiveReader in(bytes, "test", 1);
  loaded.load(in, 5);
  in.finish();
  ASSERT_EQ(loaded.row(1).size(), 2U);
  EXPECT_EQ(loaded.row(1)[0].next, 4U);
  EXPECT_EQ(loaded.row(1)[0].count, 2U);
  // Another number of rows, and states that do not exist.
  TransitionCounts other(3);
  ArchiveReader again(bytes, "test", 1);
  EXPECT_THROW(other.load(again, 5), Error);
  ArchiveReader small(bytes, "test", 1);
  EXPECT_THROW(loaded.load(small, 3), Error);
}

// line_mdp: (0,0) leads to 1 and pays 1; (1,0) ends and pays 4.
TEST(SingleSteps, AreTakenFromAnyPair) {
  const auto simulator = make_simulator(testing::line_mdp());
  const StreamAddress streams = {.seed = 1};
  const Step on = sample_step(*simulator, {0, 0}, streams);
  EXPECT_EQ(on.next, 1U);
  EXPECT_EQ(on.reward, 1);
  EXPECT_FALSE(on.done);
  const Step end = sample_step(*simulator, {1, 0}, streams);
  EXPECT_EQ(end.next, 2U);
  EXPECT_TRUE(end.done);
  testing::expect_error(
      [&] {
        sample_step(*simulator, {2, 0}, streams);
      },
      Errc::usage, {"state 2 is terminal"});
}

TEST(CheckEpisode, RejectsWhatNoSimulatorMayGive) {
  using testing::expect_error;
  const auto check = [](Episode e) { return [e] { check_episode(e, 3, 2); }; };
  EXPECT_NO_THROW(check(make_episode({0, 2}, {1}, {1}))());
  EXPECT_NO_THROW(check(make_episode({0}, {}, {}))());
  expect_error(check(make_episode({}, {}, {})), Errc::simulator, {"0 states"});
  expect_error(check(make_episode({0, 2}, {1}, {})), Errc::simulator, {"0 rewards"});
  expect_error(check(make_episode({0, 3}, {1}, {1})), Errc::simulator,
               {"state of an episode is 3"});
  expect_error(check(make_episode({0, 2}, {2}, {1})), Errc::simulator,
               {"action of an episode is 2"});
  expect_error(check(make_episode({0, 2}, {1}, {std::nan("")})), Errc::simulator,
               {"reward", "nan"});
}

}  // namespace
}  // namespace hilo
