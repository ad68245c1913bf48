// Gradients with a cheap simulator as control variate, over many batches: no bias, the variance of
// the formula, and never much worse than without it. HILO_REPLICATES sets how many batches, and
// HILO_BATCHES how many of them an agent has: with few, coefficients come from few pairs.
#include "hilo/agent/policy_gradient.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "hilo/core/parallel.hpp"
#include "support/gradient_cases.hpp"

namespace hilo {
namespace {

using testing::GradientCase;
using testing::GradientSums;

std::uint64_t number_from(const char* variable, std::uint64_t usual) {
  const char* given = std::getenv(variable);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : usual;
}

// Agents of 500 batches each; the first batch of an agent has no coefficient.
GradientSums run_often(const GradientCase& c) {
  const std::uint64_t replicates = number_from("HILO_REPLICATES", 20'000);
  const std::uint64_t batches = number_from("HILO_BATCHES", 500);
  std::vector<GradientSums> parts((replicates + batches - 1) / batches);
  parallel_for(parts.size(), 0,
               [&](std::size_t i) { parts[i] = testing::run_gradient_case(c, batches, 1000 + i); });
  GradientSums sums;
  for (const GradientSums& part : parts) sums.add(part);
  return sums;
}

// The columns: the case, rho of the gradients, the largest bias in standard errors, the ratio of
// squared errors with coefficients that the agent finds, and with the true one, what the formula
// says for that, and the share of batches in which the agent used one.
void expect_as_promised(const std::vector<GradientCase>& cases) {
  for (GradientCase c : cases) {
    const GradientSums found = run_often(c);
    const double m = c.options.low_rollouts;
    const double formula = 1 - found.rho_squared() * m / (m + 1);
    c.options.coefficient =
        found.moments.low > 0 ? m / (m + 1) * found.moments.cross / found.moments.low : 0;
    const GradientSums known = run_often(c);
    std::printf("| %s | %+.3f | %.2f, %.2f | %.3f ± %.3f | %.3f ± %.3f | %.3f | %.0f %% |\n",
                c.name.c_str(), std::copysign(std::sqrt(found.rho_squared()), found.moments.cross),
                found.worst_z(), known.worst_z(), found.ratio(), found.ratio_error(), known.ratio(),
                known.ratio_error(), formula,
                100 * static_cast<double>(found.used) / static_cast<double>(found.count));
    std::fflush(stdout);
    for (const GradientSums* sums : {&found, &known}) {
      EXPECT_LT(sums->worst_z(), 4) << c.name;  // up to 21 coordinates: false in 1 of 750
      EXPECT_LT(sums->ratio() - 4 * sums->ratio_error(), 1.05) << c.name;
    }
    EXPECT_NEAR(known.ratio() / formula, 1, 0.1 + 4 * known.ratio_error() / formula) << c.name;
  }
}

TEST(SlowPolicyGradient, LinearQuadratic) { expect_as_promised(testing::linear_cases()); }

TEST(SlowPolicyGradient, SoftmaxOnTables) { expect_as_promised(testing::table_cases()); }

}  // namespace
}  // namespace hilo
