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

TEST(MeanReward, AgreesWithSimulation) {
  const auto mdp = testing::small_mdp(6);
  const QTable q = testing::optimal_q(*mdp, 0.9);
  std::vector<RolloutSummary> summaries(100'000);
  make_simulator(mdp)->run_episodes({.behaviour = q.behaviour(0.3), .seed = 2}, summaries);
  Moments y;
  for (const auto& s : summaries) y.add(s.mean_reward());
  const double exact = expected_mean_reward(*mdp, policy_matrix(q.behaviour(0.3)), kMaxSteps);
  EXPECT_NEAR(y.mean(), exact, 4 * std::sqrt(y.variance() / 100'000));  // false alarm 6e-5
}

}  // namespace
}  // namespace hilo
