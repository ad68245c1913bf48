#include "hilo/estimator/mean_interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hilo {
namespace {

TEST(MeanInterval, IsStudentsWhereNothingIsSkewed) {
  const double symmetric[] = {1, 2, 3, 4, 5};
  const MeanInterval interval = mean_interval(symmetric);
  const Summary student = summarise(std::span<const double>(symmetric));
  EXPECT_EQ(interval.summary.low, student.low);
  EXPECT_EQ(interval.summary.high, student.high);
  EXPECT_EQ(interval.skewness, 0);
  const double two[] = {1, 3};
  EXPECT_EQ(mean_interval(two).summary.high, summarise(std::span<const double>(two)).high);
  const double one[] = {7};
  EXPECT_EQ(mean_interval(one).summary.low, 7);
  EXPECT_EQ(mean_interval({}).summary.n, 0U);
  const double same[] = {2, 2, 2, 2};
  EXPECT_EQ(mean_interval(same).summary.high, 2);
}

// By hand: values 0, 0, 0, 4 have mean 1, sd 2 and skewness 2.
TEST(MeanInterval, ReachesFurtherTowardsTheLongTail) {
  const double values[] = {0, 0, 0, 4};
  const MeanInterval interval = mean_interval(values);
  EXPECT_DOUBLE_EQ(interval.skewness, 2);
  const double t = student_t_975(3) / 2;
  EXPECT_NEAR(interval.summary.high, 1 - 2 * 1.5 * (std::cbrt(1 + 2 * (-t - 2.0 / 24)) - 1), 1e-12);
  EXPECT_GT(interval.summary.high - 1, 1.5 * (1 - interval.summary.low));
  const Summary student = summarise(std::span<const double>(values));
  EXPECT_LE(interval.summary.low, student.low);
}

// Coverage over 20 000 samples of exponential values, whose skewness is 2: the standard error of a
// share near 0.95 is 0.0015. A prototype in another language gave 0.939, 0.950 and 0.964; Student's
// interval holds the mean in 88, 90 and 93 % only.
TEST(MeanInterval, CoversTheMeanOfSkewedValues) {
  std::mt19937_64 random(20261116);
  std::exponential_distribution<> exponential(1);
  for (const auto& [n, expected] :
       {std::pair(5, 0.939), std::pair(10, 0.950), std::pair(20, 0.964)}) {
    int held = 0;
    std::vector<double> values(static_cast<std::size_t>(n));
    for (int i = 0; i < 20'000; ++i) {
      for (double& value : values) value = exponential(random);
      const Summary s = mean_interval(values).summary;
      held += s.low <= 1 && 1 <= s.high ? 1 : 0;
    }
    EXPECT_NEAR(held / 20'000.0, expected, 0.015) << n;
    EXPECT_GT(held / 20'000.0, 0.92) << n;
  }
}

}  // namespace
}  // namespace hilo
