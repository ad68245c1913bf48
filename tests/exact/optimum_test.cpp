#include "hilo/exact/optimum.hpp"

#include "hilo/exact/evaluate.hpp"
#include "hilo/exact/mean_reward.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

// The optimum is what a brute search over all deterministic policies finds.
TEST(Optimum, IsTheBestOfAllPolicies) {
  const auto mdp = testing::line_mdp();
  const Optimum optimum = find_optimum(*mdp, 0.9, 1000);
  double best = -1;
  PolicyMatrix best_policy;
  for (Action a = 0; a < 2; ++a)
    for (Action b = 0; b < 2; ++b) {
      const PolicyMatrix policy = deterministic_policy({a, b, 0}, 2);
      const double value = start_value(*mdp, evaluate_policy(*mdp, policy, 0.9).v);
      if (value > best) {
        best = value;
        best_policy = policy;
      }
    }
  EXPECT_NEAR(optimum.value, best, 1e-12);
  EXPECT_NEAR(optimum.mean_reward, expected_mean_reward(*mdp, best_policy, 1000), 1e-12);
  EXPECT_EQ(share_of_optimal_actions(*mdp, optimum, best_policy), 1);
}

// Ties of the policy count by their share; the terminal state does not count.
TEST(Optimum, CountsOptimalActionsByTheirShare) {
  const auto mdp = testing::line_mdp();
  const Optimum optimum = {.optimal = {1, 0, 0, 1, 1, 1}};
  PolicyMatrix policy = deterministic_policy({0, 0, 0}, 2);
  EXPECT_EQ(share_of_optimal_actions(*mdp, optimum, policy), 0.5);
  policy.probability = {0.5, 0.5, 0.25, 0.75, 1, 0};
  EXPECT_EQ(share_of_optimal_actions(*mdp, optimum, policy), (0.5 + 0.75) / 2);
}

TEST(Optimum, FromTheStartAgreesWithAllValues) {
  const auto mdp = testing::small_mdp(6);
  const QTable q = testing::optimal_q(*mdp, 0.9);
  for (const double epsilon : {0.0, 0.3}) {
    const PolicyMatrix policy = policy_matrix(q.behaviour(epsilon));
    const StartValues both = evaluate_from_start(*mdp, policy, 0.9, 10'000);
    EXPECT_NEAR(both.value, start_value(*mdp, evaluate_policy(*mdp, policy, 0.9).v), 1e-11);
    EXPECT_NEAR(both.mean_reward, expected_mean_reward(*mdp, policy, 10'000), 1e-15);
  }
}

}  // namespace
}  // namespace hilo
