#include "hilo/exact/solve.hpp"

#include <algorithm>
#include <cmath>

#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

// line_mdp, gamma = 1/2: v(1) = max(4, 8 + v(1)/4) = 32/3 and
// v(0) = max(1 + v(1)/2, 2 + v(0)/4 + v(1)/4) = max(6.33, (8 + v(1)) / 3) = 19/3.
TEST(Solve, MatchesAHandComputedCase) {
  const auto mdp = testing::line_mdp();
  for (const Solution& s : {value_iteration(*mdp, 0.5), policy_iteration(*mdp, 0.5)}) {
    EXPECT_NEAR(s.values.v[1], 32.0 / 3, 1e-10);
    EXPECT_NEAR(s.values.v[0], 19.0 / 3, 1e-10);
    EXPECT_EQ(s.policy[0], 0U);
    EXPECT_EQ(s.policy[1], 1U);
  }
}

TEST(Solve, ValueAndPolicyIterationAgree) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto mdp = make_random_mdp({}, seed);
    const Solution v = value_iteration(*mdp, 0.99);
    const Solution p = policy_iteration(*mdp, 0.99);
    for (State s = 0; s < mdp->num_states(); ++s) EXPECT_NEAR(v.values.v[s], p.values.v[s], 1e-10);
    for (std::size_t i = 0; i < v.values.q.size(); ++i)
      EXPECT_NEAR(v.values.q[i], p.values.q[i], 1e-10);
  }
}

TEST(Solve, OptimumIsAboveEveryOtherPolicy) {
  const auto mdp = testing::small_mdp(8);
  const double best = start_value(*mdp, policy_iteration(*mdp, 0.9).values.v);
  for (Action a = 0; a < 3; ++a) {
    const PolicyMatrix fixed = deterministic_policy(std::vector<Action>(12, a), 3);
    EXPECT_LT(start_value(*mdp, evaluate_policy(*mdp, fixed, 0.9).v), best);
  }
}

TEST(Solve, ValueIterationNeedsDiscounting) {
  testing::expect_error([] { value_iteration(*testing::line_mdp(), 1); }, Errc::spec, {"gamma"});
}

}  // namespace
}  // namespace hilo
