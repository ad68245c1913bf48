#include "hilo/env/vector_environment.hpp"

#include <cmath>
#include <limits>

#include "hilo/policy/function_policy.hpp"
#include "hilo/policy/q_table.hpp"
#include "hilo/policy/table_policy.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

// A mass on a line that is pushed: a box of position and speed, a box of forces. Ends at 1.
struct Mass {
  struct State {
    double x, v;
  };
  Space observation_space() const { return Space::box({-10, -10}, {10, 10}); }
  Space action_space() const { return Space::box({-1}, {1}); }
  State reset(Rng& rng) const { return {rng.uniform() - 0.5, 0}; }
  VectorStep<State> step(const State& s, const Point& action, Rng& rng) const {
    const double v = s.v + 0.1 * action.coordinates()[0] + 0.01 * (rng.uniform() - 0.5);
    const State next = {s.x + 0.1 * v, v};
    return {next, -1, next.x > 1};
  }
  std::array<double, 2> observe(const State& s) const { return {s.x, s.v}; }
};

// Bits of a word that are toggled one at a time until all are set: 2^40 states, none of them listed
// anywhere, known by their numbers.
struct Switches {
  using State = std::uint64_t;
  static constexpr std::uint64_t kCount = 40, kAll = (std::uint64_t{1} << kCount) - 1;
  Space observation_space() const { return Space::discrete(kAll + 1); }
  Space action_space() const { return Space::discrete(kCount); }
  State reset(Rng& rng) const { return (std::uint64_t{rng.u32()} << 8 | 1) & kAll; }
  VectorStep<State> step(State s, const Point& action, Rng&) const {
    const State next = s ^ (std::uint64_t{1} << action.index());
    return {next, 1, next == kAll};
  }
  std::uint64_t observe(State s) const { return s; }
};
static_assert(VectorEnvironment<Mass> && VectorEnvironment<Switches>);

TEST(VectorSimulator, RunsABoxUnderAPolicyWrittenByHand) {
  const auto mass = make_vector_simulator(Mass{});
  const FunctionPolicy push(*mass, [](const Point& seen, ActionWords, Points& out) {
    const auto x = seen.coordinates();
    const double force = std::clamp(2 * (1.2 - x[0]) - x[1], -1.0, 1.0);
    out.push_back(std::span(&force, 1));
  });
  VectorEpisode episode(*mass);
  mass->run_episode(push, {.seed = 3}, {.max_steps = 1000}, episode);
  EXPECT_FALSE(episode.truncated);
  EXPECT_GT(episode.length(), 10U);
  ASSERT_EQ(episode.observations.size(), episode.length() + 1);
  EXPECT_GT(episode.observations[episode.length()].coordinates()[0], 1);
  // A function of its address, whole or in a batch.
  std::vector<RolloutSummary> batch(5);
  mass->run_episodes(push, {.seed = 3}, {.gamma = 0.9, .max_steps = 1000}, batch);
  EXPECT_EQ(batch[0].steps, episode.length());
  EXPECT_NEAR(batch[0].discounted_return, -(1 - std::pow(0.9, batch[0].steps)) / 0.1, 1e-9);
  VectorEpisode again(*mass);
  mass->run_episode(push, {.seed = 3, .first_rollout = 4}, {.max_steps = 1000}, again);
  EXPECT_EQ(batch[4].steps, again.length());
  mass->run_episode(push, {.seed = 3}, {.max_steps = 3}, again);
  EXPECT_TRUE(again.truncated);
}

TEST(VectorSimulator, RunsDiscreteStatesThatNobodyEnumerates) {
  const auto switches = make_vector_simulator(Switches{});
  // The lowest bit that is not set.
  const FunctionPolicy set_next(*switches, [](const Point& seen, ActionWords, Points& out) {
    out.push_back(static_cast<std::uint64_t>(std::countr_one(seen.index())));
  });
  VectorEpisode episode(*switches);
  switches->run_episode(set_next, {.seed = 1}, {.max_steps = 100}, episode);
  EXPECT_FALSE(episode.truncated);
  const std::uint64_t first = episode.observations[0].index();
  EXPECT_EQ(episode.length(), Switches::kCount - static_cast<unsigned>(std::popcount(first)));
  EXPECT_EQ(episode.observations[episode.length()].index(), Switches::kAll);
}

TEST(VectorSimulator, ChecksWhatItIsGiven) {
  const auto mass = make_vector_simulator(Mass{});
  const auto switches = make_vector_simulator(Switches{});
  VectorEpisode episode(*mass);
  const auto with = [&](double force) {
    return [&, force] {
      const FunctionPolicy policy(*mass, [=](const Point&, ActionWords, Points& out) {
        out.push_back(std::span(&force, 1));
      });
      mass->run_episode(policy, {}, {.max_steps = 5}, episode);
    };
  };
  EXPECT_NO_THROW(with(1)());
  expect_error(with(2), Errc::simulator, {"the action is (2)", "[-1, 1]"});
  expect_error(with(std::numeric_limits<double>::quiet_NaN()), Errc::simulator, {"nan"});
  // Of the wrong dimension.
  for (const std::size_t given : {0U, 2U}) {
    const FunctionPolicy policy(*mass, [=](const Point&, ActionWords, Points& out) {
      const std::vector<double> zeros(given);
      out.push_back(std::span<const double>(zeros));
    });
    expect_error([&] { mass->run_episode(policy, {}, {}, episode); }, Errc::simulator,
                 {"must be 1 numbers"});
  }
  const FunctionPolicy number(
      *mass, [](const Point&, ActionWords, Points& out) { out.push_back(std::uint64_t{1}); });
  expect_error([&] { mass->run_episode(number, {}, {}, episode); }, Errc::simulator,
               {"a whole number, but must be 1 numbers"});
  const FunctionPolicy other(*switches, [](const Point&, ActionWords, Points&) {});
  expect_error([&] { mass->run_episode(other, {}, {}, episode); }, Errc::usage, {"does not fit"});
  expect_error([] { Space::box({0, 1}, {1, 0}); }, Errc::data, {"dimension 1"});
  expect_error([] { Space::discrete(0); }, Errc::data, {"at least one"});
}

TEST(TablePolicy, ActsAsItsTable) {
  QTable q(3, 4);
  q.set(1, 2, 5);
  const TablePolicy policy(q.behaviour(0.3));
  ASSERT_NE(policy.table(), nullptr);
  EXPECT_EQ(policy.observation_space(), Space::discrete(3));
  Points seen(policy.observation_space()), chosen(policy.action_space());
  std::vector<ActionWords> words;
  Rng rng(Stream(1, Purpose::user));
  for (std::uint64_t i = 0; i < 60; ++i) {
    seen.push_back(i % 3);
    words.push_back(draw_action_words(rng));
  }
  policy.act(seen, words, chosen);
  for (std::size_t i = 0; i < 60; ++i)
    EXPECT_EQ(chosen[i].index(), q.behaviour(0.3).choose(static_cast<State>(i % 3),
                                                         words[i].explore, words[i].action));
}

}  // namespace
}  // namespace hilo
