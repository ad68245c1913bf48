#include "hilo/core/moments.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

namespace hilo {
namespace {

TEST(Moments, MatchesAHandComputedCase) {
  Moments m;
  EXPECT_EQ(m.variance(), 0);
  for (const double x : {1.0, 2.0, 6.0}) m.add(x);
  EXPECT_EQ(m.count(), 3U);
  EXPECT_DOUBLE_EQ(m.mean(), 3);
  EXPECT_DOUBLE_EQ(m.variance(), 7);  // (4 + 1 + 9) / 2
  EXPECT_DOUBLE_EQ(m.population_variance(), 14.0 / 3);
  EXPECT_NEAR(m.effective_count(), 3, 1e-12);
}

TEST(CoMoments, MatchesAHandComputedCase) {
  CoMoments m;
  m.add(1, 10);
  EXPECT_EQ(m.covariance(), 0);
  m.add(3, 4);
  EXPECT_DOUBLE_EQ(m.mean_x(), 2);
  EXPECT_DOUBLE_EQ(m.mean_y(), 7);
  EXPECT_DOUBLE_EQ(m.variance_x(), 2);
  EXPECT_DOUBLE_EQ(m.variance_y(), 18);
  EXPECT_DOUBLE_EQ(m.covariance(), -6);
}

// w = 2: steps 1, 2/3, 2/4, so that the weights of 1, 2, 6 are 1/6, 2/6, 3/6.
TEST(Moments, RecencyWeightsMatchAHandComputedCase) {
  Moments m;
  for (const double x : {1.0, 2.0, 6.0}) m.add(x, 2);
  EXPECT_DOUBLE_EQ(m.mean(), 23.0 / 6);
  EXPECT_NEAR(m.population_variance(), 117.0 / 6 - 529.0 / 36, 1e-14);
  EXPECT_NEAR(m.effective_count(), 36.0 / 14, 1e-14);
}

TEST(CoMoments, RecencyWeightsMatchAHandComputedCase) {
  CoMoments m;
  m.add(1, 2, 2);
  m.add(2, 4, 2);
  m.add(6, 0, 2);  // weights 1/6, 2/6, 3/6
  EXPECT_DOUBLE_EQ(m.mean_x(), 23.0 / 6);
  EXPECT_DOUBLE_EQ(m.mean_y(), 10.0 / 6);
  // E[xy] - E[x] E[y] = 18/6 - 230/36, made unbiased by 1 - 14/36
  EXPECT_NEAR(m.covariance(), (3 - 230.0 / 36) / (1 - 14.0 / 36), 1e-14);
}

struct TwoPass {
  double mean_x = 0, mean_y = 0, var_x = 0, var_y = 0, cov = 0;
  explicit TwoPass(const std::vector<std::pair<double, double>>& data) {
    const auto n = static_cast<double>(data.size());
    for (const auto& [x, y] : data) {
      mean_x += x / n;
      mean_y += y / n;
    }
    for (const auto& [x, y] : data) {
      var_x += (x - mean_x) * (x - mean_x) / (n - 1);
      var_y += (y - mean_y) * (y - mean_y) / (n - 1);
      cov += (x - mean_x) * (y - mean_y) / (n - 1);
    }
  }
};

bool close(double a, double b, double scale) { return std::abs(a - b) <= 1e-10 * (1 + scale); }

RC_GTEST_PROP(CoMoments, EqualsTheTwoPassFormulas, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(2, 60);
  const auto whole = *rc::gen::container<std::vector<std::pair<int, int>>>(
      n, rc::gen::pair(rc::gen::inRange(-1000, 1000), rc::gen::inRange(-1000, 1000)));
  std::vector<std::pair<double, double>> data;
  CoMoments both;
  Moments x_alone;
  for (const auto& [x, y] : whole) {
    data.emplace_back(x / 7.0, y / 11.0 + 1e3);
    both.add(data.back().first, data.back().second);
    x_alone.add(data.back().first);
  }
  const TwoPass expected(data);
  RC_ASSERT(close(both.mean_x(), expected.mean_x, 1e3));
  RC_ASSERT(close(both.mean_y(), expected.mean_y, 1e3));
  RC_ASSERT(close(both.variance_x(), expected.var_x, 1e5));
  RC_ASSERT(close(both.variance_y(), expected.var_y, 1e5));
  RC_ASSERT(close(both.covariance(), expected.cov, 1e5));
  RC_ASSERT(x_alone.mean() == both.mean_x());
  RC_ASSERT(x_alone.variance() == both.variance_x());
}

RC_GTEST_PROP(CoMoments, MergingEqualsAddingAll, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(0, 60);
  const auto cut = *rc::gen::inRange<std::size_t>(0, n + 1);
  const auto values = *rc::gen::container<std::vector<std::pair<int, int>>>(
      n, rc::gen::pair(rc::gen::inRange(-1000, 1000), rc::gen::inRange(-1000, 1000)));
  CoMoments all, left, right;
  Moments all_x, left_x, right_x;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = values[i].first;
    const double y = values[i].second;
    all.add(x, y);
    all_x.add(x);
    (i < cut ? left : right).add(x, y);
    (i < cut ? left_x : right_x).add(x);
  }
  left.merge(right);
  left_x.merge(right_x);
  RC_ASSERT(left.count() == all.count());
  RC_ASSERT(close(left.mean_x(), all.mean_x(), 1e3));
  RC_ASSERT(close(left.variance_y(), all.variance_y(), 1e6));
  RC_ASSERT(close(left.covariance(), all.covariance(), 1e6));
  RC_ASSERT(close(left.effective_count(), all.effective_count(), 1e2));
  RC_ASSERT(close(left_x.mean(), all_x.mean(), 1e3));
  RC_ASSERT(close(left_x.variance(), all_x.variance(), 1e6));
}

}  // namespace
}  // namespace hilo
