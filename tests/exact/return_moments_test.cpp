#include "hilo/exact/return_moments.hpp"

#include <cmath>

#include "hilo/core/moments.hpp"
#include "hilo/exact/estimator_bias.hpp"
#include "hilo/rollout/returns.hpp"
#include "hilo/rollout/shadow.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

// From (1, 1) of line_mdp under "always action 1", gamma = 1/2: G = 8 (1 + 1/2 + ... ) over K
// steps, K geometric with 1/2. E[G] = 32/3. E[G^2] = 64 + 8 E[G] / 2 + E[G^2] / 8, so E[G^2] =
// 2560/21.
TEST(ReturnMoments, MatchAHandComputedCase) {
  const auto mdp = testing::line_mdp();
  const PolicyMatrix always_1 = deterministic_policy({1, 1, 1}, 2);
  const ReturnMoments m = return_moments(*mdp, always_1, 0.5);
  EXPECT_NEAR(m.mean[3], 32.0 / 3, 1e-13);
  const double second = (64 + 4 * 32.0 / 3) / (1 - 0.125);
  EXPECT_NEAR(m.variance[3], second - 1024.0 / 9, 1e-12);
  EXPECT_NEAR(m.variance[2], 0, 1e-13);  // (1, 0) pays 4 and ends
}

// A return without spread has no variance, not even by rounding, and gets no correction.
TEST(ReturnMoments, DeterministicReturnsHaveNoSpread) {
  const auto mdp = testing::line_mdp();
  const Fidelities pair(make_simulator(mdp), make_simulator(mdp));
  const PolicyMatrix always_0 = deterministic_policy({0, 0, 0}, 2);
  const EstimatorBias bias = exact_bias(pair, always_0, always_0, 0.9);
  EXPECT_EQ(bias.alpha[0], 0);
  EXPECT_EQ(bias.rho[0], 0);
  EXPECT_NEAR(bias.rho[1], 1, 1e-12);  // (0, 1) may stay
}

// All five moments of the paired returns against 200,000 simulated paths, each within 5 standard
// errors, for two pairs.
TEST(ReturnMoments, PairedMomentsAgreeWithSimulation) {
  constexpr double gamma = 0.95;
  const auto high = testing::small_mdp(3);
  const Fidelities pair = testing::degraded_pair(high, 0, Projection::simplex, 3);
  const auto simulator = make_simulator(high);
  const QTable q = testing::optimal_q(*high, gamma);
  const Behaviour behaviour = q.behaviour(0.2);
  const auto exact = paired_return_moments(pair, policy_matrix(behaviour), gamma);
  const ReturnMoments alone = return_moments(*high, policy_matrix(behaviour), gamma);

  for (const StateAction start : {StateAction{0, 1}, StateAction{5, 2}}) {
    const std::size_t i = start.state * 3 + start.action;
    EXPECT_NEAR(alone.variance[i], exact.high.variance[i], 1e-12);
    constexpr std::uint32_t n = 200'000;
    Moments hi, lo, hi2, lo2, cross;
    Episode path, image;
    std::vector<double> g;
    for (std::uint32_t k = 0; k < n; ++k) {
      simulator->record(behaviour, {.seed = 1, .episode = k}, {}, start, path);
      shadow(pair, path, image);
      discounted_returns(path.rewards, gamma, g);
      const double d_hi = g[0] - exact.high.mean[i];
      discounted_returns(image.rewards, gamma, g);
      const double d_lo = g[0] - exact.low_on_path.mean[i];
      hi.add(d_hi);
      lo.add(d_lo);
      hi2.add(d_hi * d_hi);
      lo2.add(d_lo * d_lo);
      cross.add(d_hi * d_lo);
    }
    const auto expect_mean = [&](const Moments& m, double expected) {
      EXPECT_NEAR(m.mean(), expected, 5 * std::sqrt(m.variance() / n));
    };
    expect_mean(hi, 0);
    expect_mean(lo, 0);
    expect_mean(hi2, exact.high.variance[i]);
    expect_mean(lo2, exact.low_on_path.variance[i]);
    expect_mean(cross, exact.covariance[i]);
  }
}

}  // namespace
}  // namespace hilo
