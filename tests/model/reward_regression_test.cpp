#include "hilo/model/reward_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hilo/core/random.hpp"

namespace hilo {
namespace {

TEST(RewardRegression, BelievesTheLowFidelityBeforeAnythingIsSeen) {
  const RewardFit fit = RewardRegression(/*with_low=*/true, /*low_variance=*/4).fit();
  EXPECT_EQ(fit.slope, 1);
  EXPECT_EQ(fit.offset, 0);
  EXPECT_EQ(fit.pair_variance, 4);
  EXPECT_EQ(RewardRegression(false, 0).fit().slope, 0);
}

// Two pairs with the means (0, 1) and (2, 7), low variance 1, so that the prior is 2:
// s_xx = 2, s_xy = 6, s_yy = 18, slope = (6 + 2) / (2 + 2) = 2, offset = 4 - 2 = 2.
// Residuals of the means: 18 - 2*2*6 + 4*2 = 2; spread (2 + 2) / (2 + 2) = 1. No noise.
TEST(RewardRegression, MatchesTheHandComputedFit) {
  RewardRegression regression(true, 1);
  RewardMeans first, second;
  regression.observe(0, 1, first);
  regression.observe(2, 7, second);
  const RewardFit fit = regression.fit();
  EXPECT_DOUBLE_EQ(fit.slope, 2);
  EXPECT_DOUBLE_EQ(fit.offset, 2);
  EXPECT_DOUBLE_EQ(fit.pair_variance, 1);
  EXPECT_EQ(fit.noise_variance, 0);
  EXPECT_DOUBLE_EQ(fit.effect(first), -1);  // all of 1 - 2: without noise one look suffices
  EXPECT_DOUBLE_EQ(fit.variance_of_effect(0), 1);
  EXPECT_EQ(fit.variance_of_effect(1), 0);

  // The first pair again, 3 higher: within pairs 4.5 on one degree of freedom, mean 2.5.
  regression.observe(0, 4, first);
  EXPECT_DOUBLE_EQ(first.y, 2.5);
  EXPECT_DOUBLE_EQ(regression.fit().noise_variance, 4.5);
}

// y = 1 + 0.5 x + u + noise with sd(u) = 0.3 and sd(noise) = 0.2; 2000 pairs of 5. Standard errors
// are below 0.01 for the slope and 0.004 for the variances; five of them are allowed.
TEST(RewardRegression, FindsTheParametersOfItsModel) {
  RewardRegression regression(true, 1);
  std::vector<RewardMeans> pairs(2000);
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    Rng rng(Stream(3, Purpose::user, i));
    const double x = rng.normal(), u = 0.3 * rng.normal();
    for (int n = 0; n < 5; ++n)
      regression.observe(x, 1 + 0.5 * x + u + 0.2 * rng.normal(), pairs[i]);
  }
  const RewardFit fit = regression.fit();
  EXPECT_NEAR(fit.slope, 0.5, 0.05);
  EXPECT_NEAR(fit.offset, 1, 0.05);
  EXPECT_NEAR(fit.pair_variance, 0.09, 0.02);
  EXPECT_NEAR(fit.noise_variance, 0.04, 0.005);
  EXPECT_NEAR(fit.share(5), 0.45 / (0.45 + 0.04), 0.02);
}

// As above without the low fidelity: slope 0, the mean 4, and a prior of two pairs of variance 1,
// so that the spread is (18 + 2) / (2 + 2) = 5.
TEST(RewardRegression, FitsAloneAsIfThereWereNoLowFidelity) {
  RewardRegression with(true, 1), without(false, 0);
  for (RewardRegression* regression : {&with, &without}) {
    RewardMeans first, second;
    regression->observe(0, 1, first);
    regression->observe(2, 7, second);
  }
  const RewardFit fit = with.fit_alone();
  EXPECT_EQ(fit.slope, 0);
  EXPECT_DOUBLE_EQ(fit.offset, 4);
  EXPECT_DOUBLE_EQ(fit.pair_variance, 5);
  EXPECT_EQ(without.fit().pair_variance, fit.pair_variance);
}

// Rewards that have nothing to do with those of the low fidelity: the slope goes to 0, within five
// standard errors, 1 / sqrt(2000).
TEST(RewardRegression, DropsALowFidelityThatSaysNothing) {
  RewardRegression regression(true, 1);
  std::vector<RewardMeans> pairs(2000);
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    Rng rng(Stream(3, Purpose::user, i));
    const double x = rng.normal();
    regression.observe(x, rng.normal(), pairs[i]);
  }
  EXPECT_NEAR(regression.fit().slope, 0, 5 / std::sqrt(2000.0));
}

// The means of all pairs agree by chance while the rewards within them are noisy: it must stay
// possible that a pair pays differently. Two pairs seen: 2 / (2 + 2).
TEST(RewardRegression, NeverRulesOutThatAPairPaysDifferently) {
  RewardRegression regression(true, 1);
  std::vector<RewardMeans> pairs(2);
  for (RewardMeans& pair : pairs) {
    regression.observe(0, -10, pair);
    regression.observe(0, 10, pair);
  }
  EXPECT_EQ(regression.fit().noise_variance, 200);
  EXPECT_DOUBLE_EQ(regression.fit().pair_variance, 0.5);
}

}  // namespace
}  // namespace hilo
