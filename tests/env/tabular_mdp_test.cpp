#include "hilo/env/tabular_mdp.hpp"

#include <cmath>
#include <limits>

#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

using testing::expect_error;

// States 0 and 1 and the terminal state 2, one action; row 0 is the one under test.
struct Case {
  std::vector<State> next = {1, 2};
  std::vector<double> probability = {0.5, 0.5};
  double reward = 1;
  std::vector<State> last_next = {2};  // of state 1
  std::vector<StartProbability> start = {{0, 1}};

  std::shared_ptr<const TabularMdp> build() const {
    const State terminal = 2;
    TabularBuilder builder(3, 1, {&terminal, 1});
    builder.add_row(next, probability, reward);
    const std::vector<double> last(last_next.size(), 1.0 / static_cast<double>(last_next.size()));
    builder.add_row(last_next, last, 0);
    builder.add_absorbing_row();
    return builder.build(start);
  }
};

TEST(TabularMdp, KeepsWhatItWasGiven) {
  const auto mdp = testing::line_mdp();
  EXPECT_EQ(mdp->num_states(), 3U);
  EXPECT_EQ(mdp->num_actions(), 2U);
  EXPECT_EQ(mdp->num_nonzeros(), 8U);
  EXPECT_TRUE(mdp->is_terminal(2));
  EXPECT_FALSE(mdp->is_terminal(0));
  EXPECT_EQ(mdp->reward(1, 1, 2), 8);
  std::vector<Outcome> outcomes;
  mdp->outcomes(1, 1, outcomes);
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].next, 1U);
  EXPECT_EQ(outcomes[0].probability, 0.5);
  EXPECT_EQ(outcomes[1].next, 2U);
  EXPECT_EQ(outcomes[1].reward, 8);
}

TEST(TabularMdp, RewardsMayDependOnTheSuccessor) {
  const State terminal = 2;
  TabularBuilder builder(3, 1, {&terminal, 1});
  const Outcome first[] = {{1, 0.5, 4}, {2, 0.5, 4}};
  const Outcome second[] = {{0, 0.25, -1}, {2, 0.75, 3}};
  builder.add_row(first);  // equal rewards: only the second row makes the table depend on next
  builder.add_row(second);
  builder.add_absorbing_row();
  const StartProbability start[] = {{0, 1}};
  const auto mdp = builder.build(start);
  EXPECT_TRUE(mdp->rewards_depend_on_next());
  EXPECT_EQ(mdp->reward(0, 0, 1), 4);
  EXPECT_EQ(mdp->reward(1, 0, 0), -1);
  EXPECT_EQ(mdp->reward(1, 0, 2), 3);
  EXPECT_EQ(mdp->expected_reward(1, 0), 2);
  EXPECT_EQ(mdp->reward(1, 0, 1), 2);  // impossible here: the expected reward stands in
  EXPECT_EQ(mdp->reward(2, 0, 2), 0);

  const TabularSampler<std::uint16_t> env(mdp);
  for (std::uint32_t i = 0; i < 100; ++i) {
    Rng rng(Stream(3, Purpose::user, i));
    const Step step = env.step(1, 0, rng);
    EXPECT_EQ(step.reward, step.next == 0 ? -1 : 3);
    EXPECT_EQ(step.done, step.next == 2);
  }
}

// More than 65,536 states need the wide entries: a long line whose steps go to the right.
TEST(TabularMdp, ManyStatesUseWideEntries) {
  constexpr State n = 70'000;
  const State terminal = n - 1;
  TabularBuilder builder(n, 1, {&terminal, 1});
  const double one = 1;
  for (State s = 0; s + 1 < n; ++s) {
    const State next = s + 1;
    builder.add_row({&next, 1}, {&one, 1}, 1);
  }
  builder.add_absorbing_row();
  const StartProbability start[] = {{n - 10, 1}};
  const auto simulator = make_simulator(builder.build(start));
  const QTable q(n, 1);
  Episode episode;
  simulator->run_episode(q.behaviour(0.5), {}, {}, episode);
  EXPECT_EQ(episode.length(), 9U);
  EXPECT_EQ(episode.states.back(), terminal);
}

TEST(TabularMdp, RejectsBadSizes) {
  const State none = 0;
  const auto make = [&](std::size_t states, std::size_t actions) {
    return [=] { TabularBuilder(states, actions, {&none, 1}); };
  };
  expect_error(make(0, 1), Errc::data, {"number of states is 0, but must be in [2, "});
  expect_error(make(1, 1), Errc::data, {"number of states is 1"});
  expect_error(make(2, 0), Errc::data, {"number of actions is 0, but must be in [1, "});
  const State far = 2;
  expect_error(
      [&] {
        TabularBuilder(2, 1, {&far, 1});
      },
      Errc::data, {"terminal state is 2, but must be in [0, 1]"});
}

TEST(TabularMdp, RejectsBadRows) {
  EXPECT_NO_THROW(Case{}.build());
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  expect_error([] { Case{.next = {}, .probability = {}}.build(); }, Errc::data,
               {"state 0, action 0", "at least one successor"});
  expect_error(
      [] {
        Case{.next = {1, 3}}.build();
      },
      Errc::data, {"state 0, action 0: successor is 3, but must be in [0, 2]"});
  expect_error([] { Case{.next = {2, 1}}.build(); }, Errc::data, {"successor 1 comes after 2"});
  expect_error([] { Case{.next = {1, 1}}.build(); }, Errc::data, {"successor 1 comes after 1"});
  expect_error(
      [] {
        Case{.probability = {0.5, 0.4}}.build();
      },
      Errc::data, {"state 0, action 0", "sum to 0.9", "must sum to 1"});
  expect_error(
      [] {
        Case{.probability = {1.5, -0.5}}.build();
      },
      Errc::data, {"probability of successor 1 is 1.5", "(0, 1]"});
  expect_error([] { Case{.probability = {-0.5, 1.5}}.build(); }, Errc::data, {"is -0.5"});
  expect_error([] { Case{.probability = {0, 1}}.build(); }, Errc::data, {"is 0, but"});
  expect_error([&] { Case{.probability = {nan, 0.5}}.build(); }, Errc::data, {"is nan"});
  expect_error([&] { Case{.probability = {0.5, infinity}}.build(); }, Errc::data, {"is inf"});
  expect_error([&] { Case{.reward = nan}.build(); }, Errc::data,
               {"state 0, action 0: reward is nan, but must be finite"});
  expect_error([&] { Case{.reward = -infinity}.build(); }, Errc::data, {"reward is -inf"});
}

TEST(TabularMdp, RejectsLeakingAndPayingTerminals) {
  const State terminal = 0;
  const State other = 1;
  const double one = 1;
  TabularBuilder leaks(2, 1, {&terminal, 1});
  expect_error(
      [&] {
        leaks.add_row({&other, 1}, {&one, 1}, 0);
      },
      Errc::data, {"state 0, action 0: the state is terminal, but has a transition to state 1"});
  TabularBuilder pays(2, 1, {&terminal, 1});
  expect_error(
      [&] {
        pays.add_row({&terminal, 1}, {&one, 1}, 2);
      },
      Errc::data, {"the state is terminal, but its reward is 2"});
}

TEST(TabularMdp, RejectsUnreachableAndMissingTerminals) {
  expect_error([] { Case{.last_next = {1}}.build(); }, Errc::data,
               {"from state 1 no terminal state can be reached"});
  expect_error(
      [] {
        Case{.last_next = {0, 1}, .start = {{5, 1}}}.build();
      },
      Errc::data, {"start state is 5"});
  TabularBuilder builder(2, 1, {});
  const State both[] = {0, 1};
  const double half[] = {0.5, 0.5};
  builder.add_row(both, half, 0);
  builder.add_row(both, half, 0);
  const StartProbability start[] = {{0, 1}};
  expect_error([&] { builder.build(start); }, Errc::data, {"there is no terminal state"});
}

// 0 -> 1 -> 2 -> 3 (terminal): the sweep finds 2 alone, the search the rest; and a trap among them.
TEST(TabularMdp, ReachabilityIsFoundThroughLongPaths) {
  const State terminal = 4;
  const auto build = [&](State of_two) {
    TabularBuilder builder(5, 1, {&terminal, 1});
    const double one = 1;
    for (const State next : {State{1}, State{2}, of_two, State{4}})
      builder.add_row({&next, 1}, {&one, 1}, 0);
    builder.add_absorbing_row();
    const StartProbability start[] = {{0, 1}};
    return builder.build(start);
  };
  EXPECT_NO_THROW(build(3));
  expect_error([&] { build(0); }, Errc::data, {"from state 0 no terminal"});
}

TEST(TabularMdp, RejectsBadStarts) {
  const auto start = [](std::vector<StartProbability> s) {
    return [s] { Case{.start = s}.build(); };
  };
  expect_error(start({}), Errc::data, {"start distribution", "sum to 0"});
  expect_error(start({{2, 1}}), Errc::data, {"start state 2 is terminal"});
  expect_error(start({{3, 1}}), Errc::data, {"start state is 3, but must be in [0, 2]"});
  expect_error(start({{0, 0.5}}), Errc::data, {"sum to 0.5"});
  expect_error(start({{0, -1}, {1, 2}}), Errc::data, {"probability is -1"});
  expect_error(start({{1, 0.5}, {0, 0.5}}), Errc::data, {"start state 0 comes after 1"});
  expect_error(start({{0, std::nan("")}}), Errc::data, {"probability is nan"});
}

TEST(TabularMdp, RejectsMissingAndSurplusRows) {
  const State terminal = 1;
  TabularBuilder builder(2, 1, {&terminal, 1});
  const StartProbability start[] = {{0, 1}};
  const State next = 1;
  const double one = 1;
  builder.add_row({&next, 1}, {&one, 1}, 0);
  expect_error([&] { builder.build(start); }, Errc::data, {"1 rows were given", "need 2"});
  builder.add_absorbing_row();
  expect_error([&] { builder.add_row({&next, 1}, {&one, 1}, 0); }, Errc::data, {"more rows"});
  builder.build(start);
  expect_error([&] { builder.build(start); }, Errc::usage, {"built its MDP already"});
}

}  // namespace
}  // namespace hilo
