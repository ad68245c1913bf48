#include "hilo/env/one_path_simulator.hpp"

#include <cmath>

#include "hilo/core/moments.hpp"
#include "hilo/exact/evaluate.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

// 0, 1, ..., length, the last one terminal; each step pays 1 whatever the action. Written the way a
// user would.
struct Corridor {
  State length = 4;
  double pay = 1;
  State jump_to = 0;  // where a broken step leads instead, if not 0
  State first = 0;

  std::size_t num_states() const { return length + 1; }
  std::size_t num_actions() const { return 2; }
  bool is_terminal(State s) const { return s == length; }
  State reset(Rng&) const { return first; }
  double reward(State, Action, State) const { return pay; }
  Step step(State s, Action, Rng&) const {
    const State next = jump_to != 0 ? jump_to : s + 1;
    return {.next = next, .reward = pay, .done = next == length};
  }
};
static_assert(Environment<Corridor>);

TEST(OnePathSimulator, RunsAUsersEnvironment) {
  const auto simulator = make_simulator(Corridor{});
  EXPECT_EQ(simulator->model(), nullptr);
  const QTable q(5, 2);
  Episode episode;
  simulator->run_episode(q.behaviour(0), {}, {}, episode);
  EXPECT_EQ(episode.states, (std::vector<State>{0, 1, 2, 3, 4}));
  EXPECT_EQ(episode.rewards, (std::vector<double>{1, 1, 1, 1}));
  EXPECT_FALSE(episode.truncated);

  const StateAction starts[] = {{2, 1}, {4, 0}};
  std::vector<RolloutSummary> summaries(4);
  simulator->roll_out(q.behaviour(0), {}, {.gamma = 0.5}, starts, 2, summaries);
  EXPECT_EQ(summaries[1].discounted_return, 1.5);
  EXPECT_EQ(summaries[1].reward_sum, 2);
  EXPECT_EQ(summaries[1].mean_reward(), 1);
  EXPECT_EQ(summaries[1].steps, 2U);
  EXPECT_EQ(summaries[2].steps, 0U);  // starts in a terminal state
  EXPECT_EQ(summaries[2].mean_reward(), 0);
}

TEST(OnePathSimulator, CutsAtMaxStepsAndSaysSo) {
  const auto simulator = make_simulator(Corridor{});
  const QTable q(5, 2);
  Episode episode;
  simulator->run_episode(q.behaviour(0), {}, {.max_steps = 3}, episode);
  EXPECT_EQ(episode.length(), 3U);
  EXPECT_TRUE(episode.truncated);
  simulator->run_episode(q.behaviour(0), {}, {.max_steps = 4}, episode);
  EXPECT_FALSE(episode.truncated);
  std::vector<RolloutSummary> summaries(1);
  simulator->run_episodes(q.behaviour(0), {}, {.max_steps = 3}, summaries);
  EXPECT_TRUE(summaries[0].truncated);
}

TEST(OnePathSimulator, RejectsWhatABrokenEnvironmentReturns) {
  const QTable q(5, 2);
  Episode episode;
  const auto run = [&](Corridor broken) {
    return [&, broken] { make_simulator(broken)->run_episode(q.behaviour(0), {}, {}, episode); };
  };
  testing::expect_error(run({.jump_to = 9}), Errc::simulator,
                        {"state 0, action", "next state is 9, but must be in [0, 4]"});
  testing::expect_error(run({.pay = std::nan("")}), Errc::simulator, {"reward is nan"});
  testing::expect_error(run({.first = 7}), Errc::simulator, {"reset gave state 7", "[0, 4]"});
}

TEST(OnePathSimulator, RejectsBatchesThatDoNotFit) {
  using testing::expect_error;
  const auto simulator = make_simulator(Corridor{});
  const QTable q(5, 2);
  const QTable few(4, 2);
  const QTable many_actions(5, 3);
  Episode episode;
  std::vector<RolloutSummary> summaries(1);
  const auto run = [&](const Behaviour& policy, const StreamAddress& streams,
                       const Horizon& horizon) {
    return [&, policy, streams, horizon] {
      simulator->run_episode(policy, streams, horizon, episode);
    };
  };
  expect_error(run({}, {}, {}), Errc::usage, {"a behaviour of 0 states"});
  expect_error(run(few.behaviour(0), {}, {}), Errc::usage, {"4 states", "of 5 and 2"});
  expect_error(run(many_actions.behaviour(0), {}, {}), Errc::usage, {"3 actions"});
  expect_error(run(q.behaviour(0), {}, {.max_steps = 1U << 24}), Errc::usage,
               {"max_steps is 16777216"});
  expect_error(run(q.behaviour(0), {.first_pair = 1U << 24}, {}), Errc::usage, {"number of pairs"});
  const auto start = [&](StateAction at, std::uint32_t rollouts) {
    return [&, at, rollouts] {
      simulator->roll_out(q.behaviour(0), {}, {}, {&at, 1}, rollouts, summaries);
    };
  };
  EXPECT_NO_THROW(start({0, 0}, 1)());
  expect_error(start({5, 0}, 1), Errc::usage, {"start state is 5"});
  expect_error(start({0, 2}, 1), Errc::usage, {"start action is 2"});
  expect_error(start({0, 0}, 2), Errc::usage, {"one summary for each"});
}

TEST(OnePathSimulator, PartsOfABatchAreTheSameAsTheWhole) {
  const auto simulator = make_simulator(testing::small_mdp(2));
  const QTable q(12, 3);
  const StateAction starts[] = {{0, 1}, {3, 2}};
  std::vector<RolloutSummary> whole(2 * 6);
  std::vector<RolloutSummary> part(3);
  simulator->roll_out(q.behaviour(1), {.seed = 5}, {}, starts, 6, whole);
  simulator->roll_out(q.behaviour(1), {.seed = 5, .first_pair = 1, .first_rollout = 2}, {},
                      {&starts[1], 1}, 3, part);
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_EQ(part[j].discounted_return, whole[6 + 2 + j].discounted_return);
}

TEST(OnePathSimulator, BulkAndRecordedRollOutsAreTheSame) {
  const auto mdp = testing::small_mdp(2);
  const auto simulator = make_simulator(mdp);
  const QTable q = testing::optimal_q(*mdp, 0.9);
  const Behaviour policy = q.behaviour(0.3);
  const Horizon horizon = {.gamma = 0.9};
  const StateAction starts[] = {{0, 1}, {3, 2}};
  std::vector<RolloutSummary> summaries(2 * 50);
  simulator->roll_out(policy, {.seed = 5, .episode = 7}, horizon, starts, 50, summaries);
  Episode episode;
  for (std::uint32_t i = 0; i < 2; ++i)
    for (std::uint32_t j = 0; j < 50; ++j) {
      simulator->record(policy, {.seed = 5, .episode = 7, .first_pair = i, .first_rollout = j},
                        horizon, starts[i], episode);
      EXPECT_EQ(episode.length(), summaries[i * 50 + j].steps);
      double sum = 0;
      for (const double r : episode.rewards) sum += r;
      EXPECT_EQ(sum, summaries[i * 50 + j].reward_sum);
    }
}

// Roll-outs against the exact values, within 4 standard errors (12 pairs: false alarm 8e-4, and the
// seed is fixed).
TEST(OnePathSimulator, ReturnsAgreeWithExactValues) {
  constexpr double gamma = 0.95;
  const auto mdp = testing::small_mdp(4);
  const auto simulator = make_simulator(mdp);
  const QTable q = testing::optimal_q(*mdp, gamma);
  const Behaviour behaviour = q.behaviour(0.2);
  const Values exact = evaluate_policy(*mdp, policy_matrix(behaviour), gamma);
  std::vector<StateAction> starts;
  for (State s = 0; s < 4; ++s)
    for (Action a = 0; a < 3; ++a) starts.push_back({s, a});
  constexpr std::uint32_t n = 20'000;
  std::vector<RolloutSummary> summaries(starts.size() * n);
  simulator->roll_out(behaviour, {.seed = 1}, {.gamma = gamma}, starts, n, summaries);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Moments returns;
    for (std::size_t j = 0; j < n; ++j) returns.add(summaries[i * n + j].discounted_return);
    EXPECT_NEAR(returns.mean(), exact.q[starts[i].state * 3 + starts[i].action],
                4 * std::sqrt(returns.variance() / n));
  }
}

// The start distribution and the value from the start.
TEST(OnePathSimulator, EpisodesStartWhereTheyShould) {
  const auto mdp = testing::small_mdp(4);
  const QTable q(12, 3);
  std::vector<RolloutSummary> summaries(50'000);
  make_simulator(mdp)->run_episodes(q.behaviour(1), {}, {.gamma = 0.9}, summaries);
  Moments returns;
  for (const auto& s : summaries) returns.add(s.discounted_return);
  const double exact =
      start_value(*mdp, evaluate_policy(*mdp, policy_matrix(q.behaviour(1)), 0.9).v);
  EXPECT_NEAR(returns.mean(), exact, 4 * std::sqrt(returns.variance() / 50'000));
}

}  // namespace
}  // namespace hilo
