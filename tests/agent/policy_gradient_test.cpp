#include "hilo/agent/policy_gradient.hpp"

#include <gtest/gtest.h>

#include "hilo/core/error.hpp"
#include "support/gradient_cases.hpp"

namespace hilo {
namespace {

using testing::GradientCase;
using testing::GradientSums;
using testing::run_gradient_case;

// The slow test of the same name has ten times as many batches.
constexpr std::uint64_t kBatches = 2000;

void expect_no_bias(const std::vector<GradientCase>& cases) {
  for (const GradientCase& c : cases) {
    const GradientSums sums = run_gradient_case(c, kBatches, 7);
    EXPECT_LT(sums.worst_z(), 4) << c.name;  // up to 21 coordinates: a false alarm in 1 of 750
    EXPECT_LT(sums.ratio() - 3 * sums.ratio_error(), 1.05) << c.name;
  }
}

TEST(PolicyGradient, HasNoBiasOnALinearQuadraticProblem) {
  expect_no_bias(testing::linear_cases());
}

TEST(PolicyGradient, HasNoBiasForSoftmaxOnATable) { expect_no_bias(testing::table_cases()); }

TEST(PolicyGradient, IdenticalSimulatorsLeaveTheVarianceOfTheFreePaths) {
  const GradientSums sums = run_gradient_case(testing::linear_cases()[0], kBatches, 3);
  EXPECT_NEAR(sums.rho_squared(), 1, 0.02);  // their baselines differ a little
  EXPECT_NEAR(sums.ratio(), 1 - 10.0 / 11, 0.02);
  EXPECT_GT(sums.used, kBatches - 5);
}

TEST(PolicyGradient, WithoutAControlVariateItIsThePlainGradient) {
  GradientCase c = testing::linear_cases()[1];
  c.options.control = GradientControl::none;
  const GradientSums sums = run_gradient_case(c, 20, 3);
  EXPECT_EQ(sums.used, 0U);
  EXPECT_EQ(sums.ratio(), 1);
}

TEST(PolicyGradient, RefusesWhatItCannotDo) {
  const GradientCase c = testing::linear_cases()[0];
  EXPECT_THROW(PolicyGradient(VectorFidelities(c.pair.shared_high()), c.options, 0), Error);
  GradientOptions options = c.options;
  options.batch = 1;
  EXPECT_THROW(PolicyGradient(c.pair, options, 0), Error);
}

}  // namespace
}  // namespace hilo
