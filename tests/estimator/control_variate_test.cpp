#include "hilo/estimator/control_variate.hpp"

#include <gtest/gtest.h>

#include "hilo/estimator/sample_mean.hpp"

namespace hilo {
namespace {

TEST(SampleMean, HasItsStandardError) {
  Moments returns;
  EXPECT_EQ(sample_mean(returns).value, 0);
  EXPECT_TRUE(std::isinf(sample_mean(returns).standard_error));
  returns.add(1);
  EXPECT_TRUE(std::isinf(sample_mean(returns).standard_error));
  for (const double x : {2.0, 6.0}) returns.add(x);
  EXPECT_DOUBLE_EQ(sample_mean(returns).value, 3);
  EXPECT_DOUBLE_EQ(sample_mean(returns).standard_error, std::sqrt(7.0 / 3));
}

TEST(ControlVariate, IsExactWhenHighIsAnAffineMapOfLow) {
  CoMoments pairs;
  for (const double lo : {1.0, 2.0, 6.0}) pairs.add(10 + 2 * lo, lo);
  const ControlVariate cv = control_variate(pairs, /*mu_lo=*/4);
  EXPECT_DOUBLE_EQ(cv.value, 10 + 2 * 4);
  EXPECT_DOUBLE_EQ(cv.alpha, 2);
  EXPECT_NEAR(cv.variance_ratio, 0, 1e-12);
}

// hi = 1, 2, 6 and lo = 0, 3, 3: cov = 3, var(lo) = 3, var(hi) = 7, rho^2 = 9 / 21.
TEST(ControlVariate, MatchesAHandComputedCase) {
  CoMoments pairs;
  pairs.add(1, 0);
  pairs.add(2, 3);
  pairs.add(6, 3);
  const ControlVariate cv = control_variate(pairs, /*mu_lo=*/5);
  EXPECT_DOUBLE_EQ(cv.alpha, 1);
  EXPECT_DOUBLE_EQ(cv.value, 3 + 1 * (5 - 2));
  EXPECT_DOUBLE_EQ(cv.variance_ratio, 1 - 9.0 / 21);
  EXPECT_DOUBLE_EQ(corrected_mean(pairs, 5, 0.5), 4.5);
}

TEST(ControlVariate, IsThePlainMeanWithoutSpreadOrPairs) {
  const auto expect_plain = [](const CoMoments& pairs, double mean) {
    const ControlVariate cv = control_variate(pairs, 99);
    EXPECT_EQ(cv.value, mean);
    EXPECT_EQ(cv.alpha, 0);
    EXPECT_EQ(cv.variance_ratio, 1);
  };
  CoMoments none;
  expect_plain(none, 0);
  CoMoments one;
  one.add(5, 3);
  expect_plain(one, 5);
  CoMoments flat_low;
  flat_low.add(5, 3);
  flat_low.add(7, 3);
  expect_plain(flat_low, 6);
  CoMoments flat_high;
  flat_high.add(5, 3);
  flat_high.add(5, 4);
  expect_plain(flat_high, 5);
}

}  // namespace
}  // namespace hilo
