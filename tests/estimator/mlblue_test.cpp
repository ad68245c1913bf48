#include "hilo/estimator/mlblue.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hilo/estimator/mfmc.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

Covariances three() {
  Covariances c(3);
  c.set(0, 0, 1);
  c.set(1, 1, 1);
  c.set(2, 2, 4);
  c.set(0, 1, 0.95);
  c.set(0, 2, 1.6);
  c.set(1, 2, 1.5);
  return c;
}

TEST(Mlblue, KnowsTheVarianceOfSimpleDesigns) {
  const Covariances c = three();
  const SampleGroup alone[] = {{.members = 1, .count = 10}};
  EXPECT_NEAR(mlblue_variance(c, alone), 0.1, 1e-8);
  // Ten pairs and ninety free returns of simulator 1: (1 - rho^2 m / (n + m)) / n.
  const SampleGroup pairs[] = {{.members = 3, .count = 10}, {.members = 2, .count = 90}};
  EXPECT_NEAR(mlblue_variance(c, pairs), (1 - 0.9025 * 0.9) / 10, 1e-7);
  const SampleGroup cheap[] = {{.members = 2, .count = 90}};
  EXPECT_TRUE(std::isinf(mlblue_variance(c, cheap)));
}

TEST(Mlblue, WeightsAreUnbiasedAndGiveTheVariance) {
  const Covariances c = three();
  const SampleGroup groups[] = {{.members = 7, .count = 8},
                                {.members = 3, .count = 4},
                                {.members = 6, .count = 40},
                                {.members = 4, .count = 300}};
  const auto weights = mlblue_weights(c, groups);
  double sums[3] = {};
  double variance = 0;
  for (std::size_t g = 0; g < 4; ++g) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < 3; ++i)
      if (groups[g].has(i)) members.push_back(i);
    ASSERT_EQ(weights[g].size(), members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      sums[members[i]] += weights[g][i];
      for (std::size_t k = 0; k < members.size(); ++k)
        variance += weights[g][i] * weights[g][k] * c(members[i], members[k]) / groups[g].count;
    }
  }
  EXPECT_NEAR(sums[0], 1, 1e-8);
  EXPECT_NEAR(sums[1], 0, 1e-8);
  EXPECT_NEAR(sums[2], 0, 1e-8);
  EXPECT_NEAR(variance / mlblue_variance(c, groups), 1, 1e-6);
}

// Against a search over all designs with whole numbers for two simulators.
TEST(Mlblue, AllocatesAsWellAsASearchOverAllDesigns) {
  Covariances c(2);
  c.set(0, 0, 1);
  c.set(1, 1, 1);
  c.set(0, 1, 0.9);
  const double costs[] = {1, 0.1};
  double best = 1e9;
  for (int n = 1; n <= 20; ++n)
    for (int alone = 0; alone + n * 1.1 <= 20; ++alone) {
      const double left = 20 - n * 1.1 - alone;
      const SampleGroup groups[] = {{.members = 3, .count = static_cast<double>(n)},
                                    {.members = 1, .count = static_cast<double>(alone)},
                                    {.members = 2, .count = std::floor(left / 0.1 + 1e-9)}};
      best = std::min(best, mlblue_variance(c, groups));
    }
  const Allocation found = mlblue_allocation(c, costs, 20);
  EXPECT_LE(found.cost, 20 * (1 + 1e-9));
  EXPECT_LE(found.variance, best * 1.01);
}

TEST(Mlblue, IsNeverWorseThanMfmcOrPlain) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<> uniform;
  for (int i = 0; i < 30; ++i) {
    // Random covariances: those of random linear mixtures.
    Covariances c(4);
    double mix[4][4];
    for (auto& row : mix)
      for (double& x : row) x = uniform(random) - 0.3;
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = a; b < 4; ++b) {
        double sum = 0;
        for (int k = 0; k < 4; ++k) sum += mix[a][k] * mix[b][k];
        c.set(a, b, sum);
      }
    const double costs[] = {1, 0.5 * uniform(random) + 0.01, 0.1 * uniform(random) + 0.001, 0.002};
    const Allocation mlblue = mlblue_allocation(c, costs, 200, false);
    const MfmcPlan mfmc = mfmc_plan(c, costs, 200, false);
    EXPECT_LE(mlblue.variance, mfmc.variance * (1 + 1e-5)) << i;
    EXPECT_LE(mfmc.variance, c.variance(0) / 200 * (1 + 1e-9)) << i;
    EXPECT_NEAR(mlblue.cost, 200, 1e-6);
    EXPECT_NEAR(mfmc.cost, 200, 1e-6);
    const Allocation rounded = mlblue_allocation(c, costs, 200);
    EXPECT_LE(rounded.cost, 200 * (1 + 1e-9));
    EXPECT_LE(rounded.variance, mlblue.variance * 1.05) << i;
    for (const SampleGroup& group : rounded.groups) EXPECT_EQ(group.count, std::floor(group.count));
  }
}

// By the closed form for one cheap simulator.
TEST(Mfmc, HasTheVarianceOfTheClosedForm) {
  Covariances c(2);
  c.set(0, 0, 9);
  c.set(1, 1, 1);
  c.set(0, 1, -2.7);  // rho = -0.9
  const double costs[] = {1, 0.01};
  const MfmcPlan plan = mfmc_plan(c, costs, 100, false);
  EXPECT_NEAR(plan.variance, 9.0 / 100 * std::pow(std::sqrt(1 - 0.81) + 0.9 / 10, 2), 1e-9);
  EXPECT_NEAR(plan.coefficients[0], -2.7, 1e-12);
  EXPECT_EQ(plan.simulators, (std::vector<std::size_t>{0, 1}));
}

TEST(Mlblue, RefusesWhatMakesNoSense) {
  const Covariances c = three();
  const double few[] = {1, 0.1};
  const double zero[] = {1, 0, 0.1};
  const double good[] = {1, 0.1, 0.01};
  for (const auto& plan :
       {std::function<void(std::span<const double>, double)>(
            [&](std::span<const double> costs, double budget) {
              mlblue_allocation(c, costs, budget);
            }),
        std::function<void(std::span<const double>, double)>(
            [&](std::span<const double> costs, double budget) { mfmc_plan(c, costs, budget); })}) {
    expect_error([&] { plan(few, 10); }, Errc::usage, {"2 costs", "3 simulators"});
    expect_error([&] { plan(zero, 10); }, Errc::usage, {"cost is 0"});
    expect_error([&] { plan(good, 0.5); }, Errc::usage, {"budget is 0.5"});
    expect_error([&] { plan(good, std::nan("")); }, Errc::usage, {"budget is nan"});
  }
}

// Simulators that never vary say nothing, and are not asked.
TEST(Mlblue, LeavesOutConstantSimulators) {
  Covariances c(2);
  c.set(0, 0, 1);
  const double costs[] = {1, 0.1};
  const Allocation found = mlblue_allocation(c, costs, 10);
  ASSERT_EQ(found.groups.size(), 1U);
  EXPECT_EQ(found.groups[0].members, 1U);
  EXPECT_EQ(found.groups[0].count, 10);
  EXPECT_NEAR(found.variance, 0.1, 1e-8);
}

}  // namespace
}  // namespace hilo
