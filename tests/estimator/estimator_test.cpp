#include "hilo/estimator/estimator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hilo/core/random.hpp"
#include "hilo/estimator/control_variate.hpp"
#include "hilo/estimator/pooled_evidence.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

struct PairMoments {
  CoMoments paired;
  Moments free, coupled;
  Evidence evidence() const { return {paired, free, coupled}; }
};

Moments moments_of(std::initializer_list<double> values) {
  Moments out;
  for (const double x : values) out.add(x);
  return out;
}

// hi = 1, 2, 6 and lo = 0, 3, 3 (cov 3, var(lo) 3, var(hi) 7), free returns 4, 6 (variance 2).
PairMoments example() {
  PairMoments out;
  for (const auto& [hi, lo] : {std::pair(1.0, 0.0), {2.0, 3.0}, {6.0, 3.0}}) {
    out.paired.add(hi, lo);
    out.coupled.add(lo);
  }
  out.free = moments_of({4, 6});
  return out;
}

// Random pairs: hi = lo + noise, free returns `bias` standard deviations above the coupled ones.
PairMoments random_pair(Rng& rng, int n, int m, double bias, double spread) {
  PairMoments out;
  const double b = bias + spread * rng.normal();
  for (int k = 0; k < n; ++k) {
    const double lo = rng.normal();
    out.paired.add(lo + 0.3 * rng.normal(), lo);
    out.coupled.add(lo);
  }
  for (int k = 0; k < m; ++k) out.free.add(b + rng.normal());
  return out;
}

TEST(Estimator, PaperIsTheControlVariateOfThePool) {
  const PairMoments x = example();
  const auto estimator = make_estimator({.name = "paper"}, 1);
  const CorrectedEstimate estimate = estimator->estimate(x.evidence());
  // Pool: 0, 3, 3, 4, 6, mean 3.2; coupled mean 2; alpha 1.
  EXPECT_DOUBLE_EQ(estimate.value, 3 + 1 * (3.2 - 2));
  EXPECT_NEAR(estimate.variance_ratio, 1 - 9.0 / 21, 1e-15);
  EXPECT_NEAR(estimate.correlation, std::sqrt(9.0 / 21), 1e-15);
  // Gain 1 * 2 / (3 + 2): (7 - 2 * 0.4 * 3 + 0.16 * 3) / 3 + 0.16 * 2 / 2.
  EXPECT_NEAR(estimate.standard_error, std::sqrt((7 - 2.4 + 0.48) / 3 + 0.16), 1e-12);
}

TEST(Estimator, WithoutEvidenceAllArePlainMeans) {
  for (const EstimatorKind& kind : estimator_kinds()) {
    SCOPED_TRACE(kind.name);
    const auto estimator = make_estimator({.name = std::string(kind.name)}, 4);
    PairMoments x;
    EXPECT_EQ(estimator->estimate(x.evidence()).value, 0);
    EXPECT_TRUE(std::isinf(estimator->estimate(x.evidence()).standard_error));
    x.paired.add(5, 7);
    x.coupled.add(7);
    estimator->update(0, x.evidence());
    EXPECT_EQ(estimator->estimate(x.evidence()).value, 5);
    EXPECT_FALSE(estimator->estimate(x.evidence()).corrected);
  }
}

TEST(Estimator, FiniteMHasItsFactor) {
  Rng rng(Stream(1, Purpose::user));
  std::vector<PairMoments> pairs;
  for (int k = 0; k < 50; ++k) pairs.push_back(random_pair(rng, 6, 24, 0, 0));
  const auto estimator = make_estimator({.name = "finite-m", .forgetting = 1}, 50);
  double cov = 0, var = 0;
  for (std::size_t k = 0; k < 50; ++k) {
    estimator->update(k, pairs[k].evidence());
    cov += pairs[k].paired.covariance();
    var += pairs[k].paired.variance_y();
  }
  const PairMoments& x = pairs[7];
  const double expected =
      x.paired.mean_x() + cov / var * 24 / (6 + 24) * (x.free.mean() - x.paired.mean_y());
  EXPECT_NEAR(estimator->estimate(x.evidence()).value, expected, 1e-12);
}

// A bias that all pairs share is taken out; the spread that is left is found.
TEST(Estimator, EmpiricalBayesFindsOffsetAndSpread) {
  Rng rng(Stream(2, Purpose::user));
  constexpr std::size_t kPairs = 2000;
  std::vector<PairMoments> pairs;
  for (std::size_t k = 0; k < kPairs; ++k) pairs.push_back(random_pair(rng, 20, 200, 2, 0.5));
  PooledEvidence pool(kPairs, 1);
  for (int round = 0; round < 2; ++round)
    for (std::size_t k = 0; k < kPairs; ++k) pool.update(k, pairs[k].evidence());
  // The mean of d has the standard error sqrt((0.25 + 1/20 + 1/200) / 2000) = 0.0124, and a
  // variance of 0.305 has that of 0.305 sqrt(2 / 2000) = 0.0096; four of each, and s_l is itself
  // estimated.
  EXPECT_NEAR(pool.bias_offset(), 2, 0.05);
  EXPECT_NEAR(pool.bias_variance(), 0.25, 0.04);
  EXPECT_NEAR(pool.alpha(), 1, 0.01);
  // b^2 = 4 + 0.25 is what bias-aware goes by.
  EXPECT_NEAR(pool.bias_square(), 4.25, 0.25);
}

// Its error is what it says, and no larger than that of the plain mean: 2000 pairs of one kind;
// squared errors have a relative standard error of sqrt(2 / 2000) = 3 %.
TEST(Estimator, EmpiricalBayesKnowsItsError) {
  for (const double spread : {0.0, 0.3, 3.0}) {
    SCOPED_TRACE(spread);
    Rng rng(Stream(3, Purpose::user));
    constexpr std::size_t kPairs = 2000;
    std::vector<PairMoments> pairs;
    for (std::size_t k = 0; k < kPairs; ++k) pairs.push_back(random_pair(rng, 10, 100, 1, spread));
    const auto estimator = make_estimator({.name = "empirical-bayes", .forgetting = 1}, kPairs);
    for (int round = 0; round < 2; ++round)
      for (std::size_t k = 0; k < kPairs; ++k) estimator->update(k, pairs[k].evidence());
    double squares = 0, plain = 0, expected = 0;
    for (const PairMoments& pair : pairs) {  // the truth is 0
      const CorrectedEstimate e = estimator->estimate(pair.evidence());
      squares += e.value * e.value;
      plain += pair.paired.mean_x() * pair.paired.mean_x();
      expected += e.standard_error * e.standard_error;
    }
    EXPECT_NEAR(squares / expected, 1, 0.15);
    EXPECT_LT(squares, 1.01 * plain);
    if (spread == 0) {
      EXPECT_LT(squares, 0.25 * plain);
    }
  }
}

// With many returns and a spread of the bias, nothing is left of the correction.
TEST(Estimator, EmpiricalBayesBecomesThePlainMean) {
  Rng rng(Stream(4, Purpose::user));
  std::vector<PairMoments> pairs;
  for (int k = 0; k < 20; ++k) pairs.push_back(random_pair(rng, 20'000, 20'000, 1, 1));
  const auto estimator = make_estimator({.name = "empirical-bayes", .forgetting = 1}, 20);
  for (std::size_t k = 0; k < 20; ++k) estimator->update(k, pairs[k].evidence());
  for (const PairMoments& pair : pairs)
    EXPECT_NEAR(estimator->estimate(pair.evidence()).value, pair.paired.mean_x(), 1e-3);
}

// The sums are those of the pairs as they last stood, faded by age, however many updates there
// were: 200,000 of them over values of very different sizes leave no trace of rounding.
TEST(PooledEvidence, SumsDoNotDrift) {
  constexpr double kForgetting = 0.999;
  constexpr std::size_t kPairs = 40;
  PooledEvidence pool(kPairs, kForgetting);
  Rng rng(Stream(5, Purpose::user));
  std::vector<PairMoments> pairs(kPairs);
  std::vector<int> last(kPairs, -1);
  int updates = 0;
  for (int k = 0; k < 200'000; ++k, ++updates) {
    const std::size_t i = rng.below(kPairs);
    const double size = k < 100'000 ? 1e6 : 1;
    PairMoments x;
    for (int j = 0; j < 3; ++j) x.paired.add(size * rng.normal(), size * rng.normal());
    x.free = moments_of({size, 2 * size});
    pool.update(i, x.evidence());
    pairs[i] = x;
    last[i] = k;
  }
  double cov = 0, var = 0;
  for (std::size_t i = 0; i < kPairs; ++i) {
    const double weight = std::pow(kForgetting, updates - 1 - last[i]);
    cov += weight * pairs[i].paired.covariance();
    var += weight * pairs[i].paired.variance_y();
  }
  EXPECT_NEAR(pool.alpha(), cov / var, 1e-9 * std::abs(cov / var) + 1e-12);
}

TEST(Estimator, UnknownNamesAreRefusedWithTheNearest) {
  testing::expect_error([] { (void)make_estimator({.name = "empirical-bays"}, 1); }, Errc::spec,
                        {"empirical-bays", "did you mean 'empirical-bayes'"});
  testing::expect_error([] { (void)alpha_from_name("mine"); }, Errc::spec, {"mine", "pooled"});
  testing::expect_error([] { PooledEvidence(3, 0.1); }, Errc::spec, {"forgetting", "0.1"});
}

}  // namespace
}  // namespace hilo
