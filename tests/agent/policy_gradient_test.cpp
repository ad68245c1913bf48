#include "hilo/agent/policy_gradient.hpp"

#include <gtest/gtest.h>

#include "hilo/agent/catalogue.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/catalogue.hpp"
#include "support/expect_error.hpp"
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

// The kind `transfer` on vectors is `mfpg` without its control variate, from the cheap optimum.
TEST(PolicyGradient, TransferStartsFromTheCheapOptimum) {
  const VectorProblem problem =
      build_vector_problem(problem_kind("pendulum"), {{"steps", std::int64_t{20}}}, 0);
  const AgentSetting setting{.gamma = 1, .seed = 3};
  const auto build = [&](const char* name, NamedValues given) {
    const AgentKind& kind = agent_kind(name);
    return build_checked(kind, problem.pair, Parameters(kind.name, kind.parameters, given),
                         setting);
  };
  const auto transfer = build("transfer", {});
  const auto same = build("mfpg", {{"control", "none"}, {"start", "low-optimum"}});
  const auto low_only = build("low-only", {});
  EXPECT_GT(transfer->prepare().low_steps, 0U);
  same->prepare();
  low_only->prepare();
  EXPECT_EQ(transfer->artifact(), low_only->artifact());
  VectorEpisode episode(problem.pair.high());
  for (std::uint32_t e = 0; e < 10; ++e) {
    problem.pair.high().run_episode(*transfer->policy(),
                                    {.seed = 3, .purpose = Purpose::high_episode, .episode = e},
                                    {.gamma = 1}, episode);
    EXPECT_EQ(transfer->learn(episode).low_steps, 0U);
    same->learn(episode);
  }
  EXPECT_NE(transfer->artifact(), low_only->artifact());
  EXPECT_EQ(transfer->artifact(), same->artifact());
  testing::expect_error(
      [&] {
        build("transfer", {{"prior_count", 3.0}});
      },
      Errc::spec, {"prior_count", "mfpg with control"});
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
