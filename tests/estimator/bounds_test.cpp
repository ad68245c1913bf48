#include "hilo/estimator/bounds.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "hilo/core/random.hpp"
#include "hilo/estimator/costs.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

// Rewards in [-1, 3], gamma 0.5: returns in [-2, 6], so b = 8; max{r_min, r_max} / (1 - gamma) = 6
// would be too small for a return of -2 with a mean near 6.
TEST(Bounds, ReturnsAreBoundedAroundTheirMean) {
  EXPECT_DOUBLE_EQ(return_bound(-1, 3, 0.5), 8);
  // An episode may end at once: rewards in [-4, -1] give returns in [-8, 0], in [0.9, 1] in [0,
  // 10].
  EXPECT_DOUBLE_EQ(return_bound(-4, -1, 0.5), 8);
  EXPECT_DOUBLE_EQ(return_bound(0.9, 1, 0.9), 1 / (1 - 0.9));
  testing::expect_error([] { (void)return_bound(1, 0, 0.5); }, Errc::usage, {"1", "0"});
  testing::expect_error([] { (void)return_bound(0, 1, 1); }, Errc::usage, {"gamma"});
}

// By hand: sigma^2 = 4, b = 8, xi = 0.5 = sigma^2 / b: n = 4 * 4 / 0.25 * ln(40) = 236.09.
TEST(Bounds, HandComputedValues) {
  const Bounded x{4, 8};
  EXPECT_DOUBLE_EQ(range_of_lemma_1(x), 0.5);
  EXPECT_DOUBLE_EQ(samples_needed(x, 0.5, 0.05), 237);
  EXPECT_NEAR(tail_bound(x, 237, 0.5), 2 * std::exp(-237 * 0.25 / 16), 1e-15);
  EXPECT_LE(tail_bound(x, 237, 0.5), 0.05);
  EXPECT_GT(tail_bound(x, 236, 0.5), 0.05);
  // rho = 0.8, alpha = 2, b_lo = 3: variance 0.36 * 4, b = 8 + 6.
  const Bounded y = control_variate_of(x, 0.8, 2, 3);
  EXPECT_NEAR(y.variance, 1.44, 1e-15);
  EXPECT_DOUBLE_EQ(y.b, 14);
  // xi = 0.1 is within its range of 0.1029: 4 * 1.44 / 0.01 * ln(40) = 2124.8.
  EXPECT_DOUBLE_EQ(samples_needed(y, 0.1, 0.05), 2125);
  // Beyond the range, xi = 2: n = ln(40) / (2 / 16 - 4 / 256) = 33.73.
  EXPECT_DOUBLE_EQ(samples_needed(x, 2, 0.05), 34);
  // Two rivals: 1 / (1 + 0.5 + 0.5) * 4 / (4 + 0.5 + 1.5).
  const Rival rivals[] = {{1, 0.5}, {2, 1.5}};
  EXPECT_NEAR(greedy_is_best_bound(0.5, rivals), 0.5 * 4 / 6, 1e-15);
}

// The tail falls with n and xi, across the end of the range too.
RC_GTEST_PROP(Bounds, AreContinuousAndMonotone, ()) {
  const double b = *rc::gen::inRange(1, 100) / 10.0;
  const double variance = b * b * *rc::gen::inRange(1, 100) / 100.0;
  const double xi = *rc::gen::inRange(1, 100) / 50.0;
  const double n = *rc::gen::inRange(1, 1000);
  const Bounded x{variance, b};
  RC_ASSERT(tail_bound(x, n, xi * 1.01) <= tail_bound(x, n, xi) + 1e-15);
  RC_ASSERT(tail_bound(x, n + 1, xi) <= tail_bound(x, n, xi) + 1e-15);
  const double edge = range_of_lemma_1(x);
  RC_ASSERT(std::abs(tail_bound(x, n, edge * (1 + 1e-12)) - tail_bound(x, n, edge)) < 1e-6);
}

// A two-point variable on {0, 1} with P(1) = p, and its control variate: y = 1{u < q} shares the
// uniform number, so that cov = min(p, q) - p q.
struct Coin {
  double p, q;
  double variance() const { return p * (1 - p); }
  double alpha() const { return (std::min(p, q) - p * q) / (q * (1 - q)); }
  double rho() const { return (std::min(p, q) - p * q) / std::sqrt(p * (1 - p) * q * (1 - q)); }
};

// Share of `replicates` sample means of n that miss by more than xi; corrected: of G + alpha (q -
// L).
double miss_rate(const Coin& coin, bool corrected, double n, double xi, std::uint32_t replicates,
                 std::uint32_t setting) {
  int missed = 0;
  for (std::uint32_t r = 0; r < replicates; ++r) {
    Rng rng(Stream(7, Purpose::user, setting, 0, r));
    double sum = 0;
    for (int k = 0; k < static_cast<int>(n); ++k) {
      const double u = rng.uniform();
      sum += u < coin.p ? 1 : 0;
      if (corrected) sum += coin.alpha() * (coin.q - (u < coin.q ? 1 : 0));
    }
    missed += std::abs(sum / n - coin.p) > xi ? 1 : 0;
  }
  return static_cast<double>(missed) / replicates;
}

// Theorem 1 in 24 settings: with the stated n at most delta of the means miss (the simulated share
// may exceed it by four of its standard errors), and with a fifth of it some miss more often.
TEST(Bounds, Theorem1HoldsAndIsNotIdle) {
  std::uint32_t setting = 0;
  int failed_with_a_fifth = 0;
  for (const double p : {0.5, 0.3, 0.1})
    for (const double q : {0.5, 0.25})
      for (const double delta : {0.05, 0.2})
        for (const bool corrected : {false, true}) {
          const Coin coin{p, q};
          const Bounded plain{coin.variance(), std::max(p, 1 - p)};
          const Bounded x =
              corrected ? control_variate_of(plain, coin.rho(), coin.alpha(), std::max(q, 1 - q))
                        : plain;
          if (!(x.variance > 1e-9)) continue;  // p = q: the correction is perfect
          const double xi = 0.5 * range_of_lemma_1(x);
          const double n = samples_needed(x, xi, delta);
          constexpr std::uint32_t kReplicates = 1000;
          const double se = std::sqrt(delta * (1 - delta) / kReplicates);
          EXPECT_LE(miss_rate(coin, corrected, n, xi, kReplicates, setting), delta + 4 * se);
          const double fifth = std::max(1.0, std::floor(n / 5));
          failed_with_a_fifth +=
              miss_rate(coin, corrected, fifth, xi, kReplicates, setting) > delta + 4 * se ? 1 : 0;
          ++setting;
        }
  // p = q = 0.5 has no correction to test; its two deltas are made up for.
  const Coin coin{0.2, 0.4};
  for (const double delta : {0.1, 0.01}) {
    const Bounded x = control_variate_of({coin.variance(), 0.8}, coin.rho(), coin.alpha(), 0.6);
    const double xi = range_of_lemma_1(x);
    const double n = samples_needed(x, xi, delta);
    EXPECT_LE(miss_rate(coin, true, n, xi, 1000, setting++), delta + 4 * std::sqrt(delta / 1000));
  }
  EXPECT_EQ(setting, 24U);
  EXPECT_GT(failed_with_a_fifth, 0);
}

// Theorem 2 in 24 settings: independent normal estimates of the actions' values.
TEST(Bounds, Theorem2Holds) {
  std::uint32_t setting = 0;
  for (const int num_rivals : {1, 3, 7})
    for (const double gap : {0.3, 1.0})
      for (const double sd : {0.2, 0.5})
        for (const double rho : {0.0, 0.9}) {
          const double variance = (1 - rho * rho) * sd * sd;
          std::vector<Rival> rivals;
          for (int i = 0; i < num_rivals; ++i)
            rivals.push_back({gap * (1 + 0.2 * i), variance * (1 + 0.1 * i)});
          const double bound = greedy_is_best_bound(variance, rivals);
          constexpr int kReplicates = 4000;
          int right = 0;
          for (std::uint32_t r = 0; r < kReplicates; ++r) {
            Rng rng(Stream(8, Purpose::user, setting, 0, r));
            const double best = std::sqrt(variance) * rng.normal();
            bool won = true;
            for (const Rival& rival : rivals)
              won = won && best > -rival.gap + std::sqrt(rival.variance) * rng.normal();
            right += won ? 1 : 0;
          }
          const double share = static_cast<double>(right) / kReplicates;
          const double se = std::sqrt(std::max(share * (1 - share), 1e-4) / kReplicates);
          EXPECT_GE(share + 4 * se, bound);
          ++setting;
        }
  EXPECT_EQ(setting, 24U);
}

// rho = 0.6, w = 9: r* = sqrt(9 * 0.36 / 0.64) = 2.25, error (0.8 + 0.2)^2 = 1: break-even.
TEST(Costs, HandComputedValues) {
  EXPECT_DOUBLE_EQ(best_ratio(0.6, 9), 2.25);
  EXPECT_NEAR(error_at_equal_cost(0.6, 9), 1, 1e-15);
  EXPECT_NEAR(break_even_cost_ratio(0.6), 9, 1e-12);
  EXPECT_NEAR(break_even_cost_ratio(-0.6), 9, 1e-12);
  EXPECT_TRUE(std::isinf(break_even_cost_ratio(0)));
  EXPECT_LT(error_at_equal_cost(0.99, 100), 0.06);
  EXPECT_DOUBLE_EQ(error_at_equal_cost(0.5, 0.01), 101);  // only the price is left
  testing::expect_error([] { (void)best_ratio(1.5, 2); }, Errc::usage, {"1.5"});
  testing::expect_error([] { (void)best_ratio(0.5, 0); }, Errc::usage, {"cost ratio"});
}

// Errors 0.5 with one free return, 0.25 with four: at w = 8 they cost 0.5 * 9/8 and 0.25 * 12/8.
TEST(Costs, TheBestMixWeighsErrorAndPrice) {
  const ErrorCurve curve{{1, 4}, {0.5, 0.25}};
  EXPECT_DOUBLE_EQ(best_mix(curve, 8).free, 4);
  EXPECT_DOUBLE_EQ(best_mix(curve, 8).error_at_equal_cost, 0.375);
  EXPECT_DOUBLE_EQ(best_mix(curve, 1).free, 1);
  // One free return pays beyond w = 0.5 / 0.5 = 1, four beyond 1 / 0.75.
  EXPECT_DOUBLE_EQ(break_even_cost_ratio(curve), 1);
  EXPECT_TRUE(std::isinf(break_even_cost_ratio(ErrorCurve{{1}, {1.1}})));
}

}  // namespace
}  // namespace hilo
