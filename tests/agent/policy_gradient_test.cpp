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
  EXPECT_TRUE(same->remarks().empty());
  const auto few = build("mfpg", {});
  few->learn(episode);
  ASSERT_EQ(few->remarks().size(), 1U);  // its batch is ten
  EXPECT_NE(few->remarks()[0].find("1 episodes are less than a batch of 10"), std::string::npos);
  testing::expect_error(
      [&] {
        build("transfer", {{"prior_count", 3.0}});
      },
      Errc::spec, {"prior_count", "mfpg with control"});
}

// Two batches and a half, saved in the middle of the second.
TEST(PolicyGradient, EveryKindGoesOnAfterUpdatesWithTheSameBits) {
  const VectorProblem problem =
      build_vector_problem(problem_kind("cart-pole"), {{"steps", std::int64_t{20}}}, 0);
  const std::pair<const char*, NamedValues> kinds[] = {
      {"pg", {}},
      {"mfpg", {}},
      {"mfpg", {{"control", "corrected"}}},
      {"mfpg", {{"control", "none"}, {"start", "low-optimum"}}},
      {"transfer", {}}};
  for (const auto& [name, given] : kinds) {
    SCOPED_TRACE(name);
    const AgentKind& kind = agent_kind(name);
    const auto make = [&] {
      return build_checked(kind, problem.pair, Parameters(kind.name, kind.parameters, given),
                           {.gamma = 1, .seed = 3});
    };
    const auto train = [&](VectorAgent& agent, std::uint64_t until) {
      VectorEpisode episode(problem.pair.high());
      while (agent.episodes() < until) {
        const auto number = static_cast<std::uint32_t>(agent.episodes());
        problem.pair.high().run_episode(
            *agent.policy(), {.seed = 3, .purpose = Purpose::high_episode, .episode = number},
            {.gamma = 1}, episode);
        agent.learn(episode);
      }
    };
    const auto whole = make(), again = make();
    train(*whole, 14);
    const auto bytes = whole->save();
    train(*whole, 25);
    again->load(bytes);
    train(*again, 25);
    EXPECT_EQ(again->save(), whole->save());
  }
}

// Up to the first coefficient, a cheap simulator changes nothing about the gradient.
TEST(PolicyGradient, TheBaselineOfExpensiveEpisodesOwesNothingToTheCheapSimulator) {
  std::vector<std::vector<std::vector<double>>> gradients;
  for (GradientCase c : {testing::linear_cases()[0], testing::linear_cases()[3]}) {  // reversed
    c.options.coefficient = 0;
    PolicyGradient agent(c.pair, c.options, 5);
    agent.set_weights(c.weights);
    auto& of_batches = gradients.emplace_back();
    VectorEpisode episode(c.pair.high());
    for (std::uint32_t e = 0; e < 50; ++e) {
      c.pair.high().run_episode(
          *agent.policy(), {.seed = 5, .purpose = Purpose::high_episode, .episode = e},
          {.gamma = c.options.gamma, .max_steps = c.options.max_steps}, episode);
      agent.learn(episode);
      const auto g = agent.last_plain_gradient();
      if (e % 10 == 9) of_batches.emplace_back(g.begin(), g.end());
    }
  }
  EXPECT_EQ(gradients[0], gradients[1]);
}

// Episodes that are skipped have numbers, and so random words, which no cheap path may take.
TEST(PolicyGradient, PairsFindTheirRandomNumbersAfterASkippedEpisode) {
  const GradientCase c = testing::linear_cases()[0];
  PolicyGradient agent(c.pair, c.options, 5);
  agent.set_weights(c.weights);
  VectorEpisode episode(c.pair.high());
  LearnReport report;
  for (std::uint32_t e = 0; e < 200; ++e) {
    const std::uint32_t number = e + e / 7;
    c.pair.high().run_episode(
        *agent.policy(), {.seed = 5, .purpose = Purpose::high_episode, .episode = number},
        {.gamma = c.options.gamma, .max_steps = c.options.max_steps}, episode);
    episode.number = number;
    report = agent.learn(episode);
  }
  EXPECT_GT(agent.moments().cross / std::sqrt(agent.moments().high * agent.moments().low), 0.95);
  // What a report says of an episode is about the batch that it belongs to.
  EXPECT_EQ(report.corrected, 1U);
  EXPECT_LT(report.variance_ratio, 0.2);
  EXPECT_GT(report.correlation_sum, 0.95);
}

// Where it explodes, and no expensive episode has led there yet.
struct Exploding : testing::LinearQuadratic {
  VectorStep<State> step(const State& x, const Point& action, Rng& rng) const {
    VectorStep<State> out = LinearQuadratic::step(x, action, rng);
    if (x[0] > 2) out.reward = -1e16;
    return out;
  }
};

TEST(PolicyGradient, ACheapSimulatorThatExplodesDoesLittleHarm) {
  GradientCase c = testing::linear_cases()[0];
  c.pair = VectorFidelities(c.pair.shared_high(),
                            std::make_shared<const testing::StepsOf<Exploding>>(Exploding{}));
  const GradientSums sums = run_gradient_case(c, 300, 7);
  EXPECT_LT(sums.worst_z(), 4);
  EXPECT_LT(sums.ratio(), 1.05);
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
