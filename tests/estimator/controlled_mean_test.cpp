#include "hilo/estimator/controlled_mean.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hilo/estimator/cheap_gain.hpp"
#include "hilo/estimator/mlblue.hpp"

namespace hilo {
namespace {

constexpr double kManySe = 4;  // standard errors: a false alarm of 6e-5, with fixed seeds

PairedSample one_cheap(std::vector<double> high, std::vector<double> low,
                       std::vector<double> free) {
  return {.high = std::move(high), .low = {std::move(low)}, .free = {std::move(free)}};
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

TEST(ControlledMean, IsExactWhereTheExpensiveReturnIsAnAffineMapOfTheCheapOne) {
  std::vector<double> low = {1, 4, 2, 8, 5, 7}, high, all = low;
  for (const double l : low) high.push_back(10 + 2 * l);
  const std::vector<double> free = {0, 3, 9, 1};
  all.insert(all.end(), free.begin(), free.end());
  const ControlledMean mean = controlled_mean(one_cheap(high, low, free));
  // As if all cheap returns had an expensive partner.
  EXPECT_NEAR(mean.value, 10 + 2 * mean_of(all), 1e-7);
  EXPECT_NEAR(mean.coefficients[0], 2 * 4.0 / 10, 1e-7);
}

// The formula of the header, written out for one cheap simulator.
TEST(ControlledMean, LeavesOutTheEpisodeThatACoefficientIsUsedFor) {
  const std::vector<double> high = {3, 1, 4, 1, 5, 9, 2}, low = {2, 7, 1, 8, 2, 8, 1};
  const std::vector<double> free = {1, 6, 1, 8, 0};
  const double n = 7, m = 5;
  double sum = 0;
  for (std::size_t j = 0; j < high.size(); ++j) {
    std::vector<double> h, l;
    for (std::size_t k = 0; k < high.size(); ++k) {
      if (k == j) continue;
      h.push_back(high[k]);
      l.push_back(low[k]);
    }
    double cov = 0, var = 0;
    for (std::size_t k = 0; k < h.size(); ++k) {
      cov += (h[k] - mean_of(h)) * (l[k] - mean_of(l));
      var += (l[k] - mean_of(l)) * (l[k] - mean_of(l));
    }
    sum += high[j] + m / (n + m) * cov / var * (mean_of(free) - low[j]);
  }
  EXPECT_NEAR(controlled_mean(one_cheap(high, low, free)).value, sum / n, 1e-8);
}

TEST(ControlledMean, IsPlainWhereNothingCanBeCorrected) {
  const std::vector<double> high = {3, 1, 4, 1, 5, 9}, low = {2, 7, 1, 8, 2, 8};
  const double plain = plain_mean(high).value;
  EXPECT_EQ(controlled_mean(one_cheap(high, low, {})).value, plain);  // no free returns
  EXPECT_EQ(controlled_mean(one_cheap(high, {5, 5, 5, 5, 5, 5}, {5, 5})).value, plain);  // constant
  EXPECT_EQ(controlled_mean(one_cheap({3, 1, 4, 1, 5}, {2, 7, 1, 8, 2}, {1, 2, 3})).value,
            plain_mean(std::vector<double>{3, 1, 4, 1, 5}).value);  // too few pairs
  const ControlledMean one = controlled_mean(one_cheap({7}, {1}, {2}));
  EXPECT_EQ(one.value, 7);
  EXPECT_EQ(one.variance, 0);
}

// Identical simulators, and two cheap ones that are copies of each other, have covariances without
// an inverse.
TEST(ControlledMean, StandsIdenticalSimulators) {
  std::mt19937_64 random(1);
  std::normal_distribution<> normal;
  PairedSample sample{.high = {}, .low = {{}, {}}, .free = {{}, {}}};
  for (int j = 0; j < 10; ++j) {
    const double x = normal(random);
    sample.high.push_back(x);
    sample.low[0].push_back(x);
    sample.low[1].push_back(x);
  }
  double free_sum = 0;
  for (int j = 0; j < 90; ++j) {
    const double x = normal(random);
    free_sum += x;
    sample.free[0].push_back(x);
    sample.free[1].push_back(x);
  }
  const ControlledMean mean = controlled_mean(sample);
  EXPECT_NEAR(mean.value, (10 * mean_of(sample.high) + free_sum) / 100, 1e-4);
  EXPECT_GT(mean.variance, 0);
}

// Skewed returns, few pairs, two cheap simulators with different numbers of free returns: 20 000
// replicates. Coefficients from the same data would have a bias here.
TEST(ControlledMean, HasNoBiasAndKnowsItsVariance) {
  std::mt19937_64 random(20261117);
  std::exponential_distribution<> exponential(1);
  constexpr int kReplicates = 20'000;
  double sum = 0, squares = 0, claimed = 0, plain = 0;
  for (int r = 0; r < kReplicates; ++r) {
    PairedSample sample{.high = {}, .low = {{}, {}}, .free = {{}, {}}};
    const auto draw = [&](double& a, double& b) {
      const double x = exponential(random), y = exponential(random);
      a = x + 0.3 * y;
      b = y + 0.5 * exponential(random);
      return x * x + y;
    };
    for (int j = 0; j < 9; ++j) {
      double a = 0, b = 0;
      sample.high.push_back(draw(a, b));
      sample.low[0].push_back(a);
      sample.low[1].push_back(b);
    }
    for (int j = 0; j < 60; ++j) {
      double a = 0, b = 0;
      draw(a, b);
      sample.free[0].push_back(a);
      if (j < 20) sample.free[1].push_back(b);
    }
    const ControlledMean mean = controlled_mean(sample);
    const double error = mean.value - 3;  // E[x^2 + y] = 2 + 1
    sum += error;
    squares += error * error;
    claimed += mean.variance;
    plain += plain_mean(sample.high).variance;
  }
  const double n = kReplicates;
  const double variance = squares / n - (sum / n) * (sum / n);
  EXPECT_NEAR(sum / n, 0, kManySe * std::sqrt(variance / n));
  EXPECT_LT(squares, plain);                // it is worth its while,
  EXPECT_NEAR(claimed / squares, 1, 0.15);  // and says so
}

// The best linear unbiased estimate has the same variance, whatever the numbers of free returns.
TEST(ControlledMean, HasTheLeastVarianceForTrueCoefficients) {
  Covariances c(3);
  c.set(0, 0, 4);
  c.set(1, 1, 1);
  c.set(2, 2, 9);
  c.set(0, 1, 1.6);
  c.set(0, 2, 4);
  c.set(1, 2, 1.2);
  const double free[] = {50, 300};
  const SampleGroup groups[] = {
      {.members = 7, .count = 20}, {.members = 6, .count = 50}, {.members = 4, .count = 250}};
  EXPECT_NEAR(controlled_variance(c, 20, free) / mlblue_variance(c, groups), 1, 1e-6);
  const double none[] = {0, 0};
  EXPECT_DOUBLE_EQ(controlled_variance(c, 20, none), 4.0 / 20);
  // One cheap simulator: s^2/n (1 - rho^2 m / (n + m)).
  const double one[] = {80};
  EXPECT_NEAR(controlled_variance(c.of({0, 1}), 20, one), 0.2 * (1 - 0.64 * 0.8), 1e-8);
}

TEST(ControlledMean, IntervalsOfNormalReturnsHoldTheMean) {
  std::mt19937_64 random(7);
  std::normal_distribution<> normal;
  constexpr int kReplicates = 4000;
  for (const std::size_t cheap : {1U, 3U}) {
    int held = 0;
    for (int r = 0; r < kReplicates; ++r) {
      PairedSample sample;
      sample.low.resize(cheap);
      sample.free.resize(cheap);
      for (std::size_t j = 0; j < cheap + 8 + 100; ++j) {
        const double z = normal(random);
        const bool paired = j < cheap + 8;
        if (paired) sample.high.push_back(z + 0.5 * normal(random));
        for (std::size_t l = 0; l < cheap; ++l)
          (paired ? sample.low : sample.free)[l].push_back(z +
                                                           static_cast<double>(l) * normal(random));
      }
      const Bounds bounds = interval_of(controlled_mean(sample), 0.05);
      held += bounds.low <= 0 && 0 <= bounds.high ? 1 : 0;
    }
    // The standard error of a share of 0.95 is 0.0034.
    EXPECT_GT(held, 0.92 * kReplicates) << cheap;
    EXPECT_LT(held, 0.98 * kReplicates) << cheap;
  }
}

TEST(CheapGain, PredictabilityIsHonestAboutFewAndRareValues) {
  std::mt19937_64 random(3);
  std::normal_distribution<> normal;
  PairedSample related{.high = {}, .low = {{}}, .free = {{}}}, rare = related, alone = related;
  for (int j = 0; j < 100; ++j) {
    const double z = normal(random);
    related.high.push_back(z);
    related.low[0].push_back(z);
    alone.high.push_back(z);
    alone.low[0].push_back(normal(random));
    rare.high.push_back(j % 20 == 0 ? 0 : 1);  // five failures, seen by both
    rare.low[0].push_back(j % 20 == 0 ? 0 : 1);
  }
  const Predictability good = predictability({&related, 1});
  EXPECT_NEAR(good.r2, 1, 1e-6);
  EXPECT_LT(good.lower(0),
            0.995);  // a perfect fit of 100 pairs does not exclude 2 % of the variance
  EXPECT_GT(good.lower(1.645), 0.97);
  EXPECT_EQ(predictability({&alone, 1}).lower(1.645), 0);
  const Predictability few = predictability({&rare, 1});
  EXPECT_LT(few.effective, 25);  // a variance that rests on five events
  EXPECT_LT(few.lower(1.645), good.lower(1.645));
}

TEST(CheapGain, EventsAreCountedWhereMostValuesAreEqual) {
  std::vector<double> values(20, 1.0);
  EXPECT_EQ(effective_number(values), 20);  // nothing varies, so that nothing is rare
  values[3] = values[7] = values[11] = 0;
  EXPECT_EQ(effective_number(values), 3);
  for (std::size_t j = 0; j < 10; ++j) values[j] = 0;
  EXPECT_EQ(effective_number(values), 20);  // heads and tails
}

TEST(CheapGain, FarCheapReturnsAreReplacedByTheMedian) {
  PairedSample sample{.high = std::vector<double>(9, 0.0),
                      .low = {{1, 2, 3, 4, 5, 6, 7, 8, 1000}, {1, 1, 1, 1, 1, 1, 1, 1, 0}},
                      .free = {{2, -50, 7}, {0, 1, 0}}};
  const PairedSample before = sample;
  EXPECT_TRUE(replace_far_values(sample));
  // Quartiles 3 and 7: what lies outside of [-9, 19] is far.
  EXPECT_EQ(sample.low[0], (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 5}));
  EXPECT_EQ(sample.free[0], (std::vector<double>{2, 5, 7}));
  // Where most values are equal, the others are what matters.
  EXPECT_EQ(sample.low[1], before.low[1]);
  EXPECT_EQ(sample.free[1], before.free[1]);
  EXPECT_FALSE(replace_far_values(sample));
}

TEST(CheapGain, DesignsAgreeWithTheClosedFormForOneCheapSimulator) {
  for (const double rho : {0.5, 0.9, 0.99})
    for (const double w : {3.0, 10.0, 100.0}) {
      Covariances c(2);
      c.set(0, 0, 2);
      c.set(1, 1, 5);
      c.set(0, 1, rho * std::sqrt(10));
      const double costs[] = {1, 1 / w};
      const NestedDesign design = best_nested_design(c, costs);
      // (sqrt(1 - rho^2) + rho / sqrt(w))^2, where free returns are worth having at all.
      const double best = std::pow(std::sqrt(1 - rho * rho) + rho / std::sqrt(w), 2);
      if (w * rho * rho / (1 - rho * rho) > 1.5) {
        EXPECT_NEAR(design.error_at_equal_cost, best, 1e-3) << rho << " " << w;
      }
    }
}

}  // namespace
}  // namespace hilo
