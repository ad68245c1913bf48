#include "hilo/exact/mean_reward.hpp"

#include <cmath>

#include "hilo/core/moments.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

// line_mdp: "0 then 0" pays 1 and 4 in two steps. "0 then 1" pays 1 and then 8 K times, K geometric
// with 1/2: the mean is sum over K of 2^-K (1 + 8K) / (K + 1).
TEST(MeanReward, MatchesHandComputedCases) {
  const auto mdp = testing::line_mdp();
  EXPECT_NEAR(expected_mean_reward(*mdp, deterministic_policy({0, 0, 0}, 2), 1000), 2.5, 1e-12);
  double expected = 0;
  for (int k = 1; k < 60; ++k) expected += std::pow(0.5, k) * (1 + 8 * k) / (k + 1);
  EXPECT_NEAR(expected_mean_reward(*mdp, deterministic_policy({0, 1, 0}, 2), 1000), expected,
              1e-11);
}

// Cut after two steps, "0 then 1" has always paid 1 and 8.
TEST(MeanReward, CountsTruncatedEpisodesWithTheirMean) {
  const auto mdp = testing::line_mdp();
  const PolicyMatrix policy = deterministic_policy({0, 1, 0}, 2);
  EXPECT_NEAR(expected_mean_reward(*mdp, policy, 2), 4.5, 1e-14);
  EXPECT_NEAR(expected_mean_reward(*mdp, policy, 1), 1, 1e-14);
}

// The plain recursion to its end, state by state, without the short cut of a settled chain.
double by_full_recursion(const Model& model, const PolicyMatrix& policy, std::uint32_t max_steps) {
  std::vector<double> running(model.num_states(), 0);
  std::vector<double> collected(model.num_states(), 0);
  for (const auto& [state, p] : model.start_distribution()) running[state] = p;
  std::vector<Outcome> outcomes;
  double sum = 0;
  for (std::uint32_t t = 0; t < max_steps; ++t) {
    std::vector<double> next_running(model.num_states(), 0);
    std::vector<double> next_collected(model.num_states(), 0);
    for (State s = 0; s < model.num_states(); ++s)
      for (Action a = 0; a < model.num_actions(); ++a) {
        model.outcomes(s, a, outcomes);
        for (const Outcome& o : outcomes) {
          const double p = policy(s, a) * o.probability;
          const double paid = p * (collected[s] + running[s] * o.reward);
          if (model.is_terminal(o.next) || t + 1 == max_steps)
            sum += paid / (t + 1.0);
          else
            next_collected[o.next] += paid;
          if (!model.is_terminal(o.next)) next_running[o.next] += p * running[s];
        }
      }
    running = next_running;
    collected = next_collected;
  }
  return sum;
}

// With rewards that depend on the action alone and, in a mixed policy, on more; cut early, late and
// practically never.
TEST(MeanReward, ShortCutAgreesWithTheFullRecursion) {
  const auto mdp = make_random_mdp({.states = 30, .actions = 3}, 4);
  const QTable q = testing::optimal_q(*mdp, 0.9);
  for (const double epsilon : {0.0, 0.2})
    for (const std::uint32_t max_steps : {1U, 3U, 25U, 60U, 400U}) {
      const PolicyMatrix policy = policy_matrix(q.behaviour(epsilon));
      EXPECT_NEAR(expected_mean_reward(*mdp, policy, max_steps),
                  by_full_recursion(*mdp, policy, max_steps), 1e-12)
          << epsilon << " " << max_steps;
    }
}

// One state that pays 1 and ends with a small probability: the mean is 1 whatever the length. The
// factor of a step is known to 1e-16, which 1 / p_end steps turn into 1e-16 / p_end.
TEST(MeanReward, StaysExactWhereEpisodesAreLong) {
  for (const double p_end : {1e-2, 1e-3, 1e-5}) {
    const State terminal = 1;
    TabularBuilder builder(2, 1, {&terminal, 1});
    builder.add_row(std::vector<State>{0, 1}, std::vector<double>{1 - p_end, p_end}, 1);
    builder.add_absorbing_row();
    const StartProbability start = {0, 1};
    const auto mdp = builder.build({&start, 1});
    for (const std::uint32_t max_steps : {100U, 200'000U, 10'000'000U})
      EXPECT_NEAR(expected_mean_reward(*mdp, deterministic_policy({0, 0}, 1), max_steps), 1,
                  1e-12 + 1e-16 / p_end)
          << p_end << " " << max_steps;
  }
}

// A ring of three states with rewards of both signs never settles; each round may end after its
// last state with probability 0.1.
TEST(MeanReward, FollowsAPeriodicChainToItsEnd) {
  const State terminal = 3;
  TabularBuilder builder(4, 1, {&terminal, 1});
  builder.add_row(std::vector<State>{1}, std::vector<double>{1}, -2);
  builder.add_row(std::vector<State>{2}, std::vector<double>{1}, 5);
  builder.add_row(std::vector<State>{0, 3}, std::vector<double>{0.9, 0.1}, 3);
  builder.add_absorbing_row();
  const StartProbability start = {0, 1};
  const auto mdp = builder.build({&start, 1});
  const PolicyMatrix policy = deterministic_policy({0, 0, 0, 0}, 1);
  EXPECT_NEAR(expected_mean_reward(*mdp, policy, 10'000), 2, 1e-11);  // 6 in 3 steps, every round
  EXPECT_NEAR(expected_mean_reward(*mdp, policy, 2), 1.5, 1e-14);
}

TEST(MeanReward, AgreesWithSimulation) {
  const auto mdp = testing::small_mdp(6);
  const QTable q = testing::optimal_q(*mdp, 0.9);
  std::vector<RolloutSummary> summaries(100'000);
  make_simulator(mdp)->run_episodes(q.behaviour(0.3), {.seed = 2}, {}, summaries);
  Moments y;
  for (const auto& s : summaries) y.add(s.mean_reward());
  const double exact = expected_mean_reward(*mdp, policy_matrix(q.behaviour(0.3)), kMaxSteps);
  EXPECT_NEAR(y.mean(), exact, 4 * std::sqrt(y.variance() / 100'000));  // false alarm 6e-5
}

}  // namespace
}  // namespace hilo
