#include "hilo/env/nas/environment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "hilo/core/moments.hpp"
#include "hilo/env/nas/search.hpp"
#include "hilo/env/nas/stand_in.hpp"
#include "hilo/env/one_path_simulator.hpp"
#include "hilo/exact/estimator_bias.hpp"
#include "hilo/exact/mean_reward.hpp"
#include "hilo/exact/solve.hpp"
#include "hilo/policy/low_policy.hpp"
#include "hilo/rollout/returns.hpp"
#include "hilo/rollout/shadow.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

using testing::expect_error;

TEST(NasSpace, NumbersArchitecturesByTheirDigits) {
  const NasSpace space(3, 3);
  EXPECT_EQ(space.size(), 27U);
  const Architecture a = 2 * 9 + 0 * 3 + 1;  // 2, 0, 1
  EXPECT_EQ(space.operation(a, 0), 2U);
  EXPECT_EQ(space.operation(a, 1), 0U);
  EXPECT_EQ(space.operation(a, 2), 1U);
  EXPECT_EQ(space.with(a, 0, 0), 1U);
  EXPECT_EQ(space.with(a, 1, 2), a + 6);
  EXPECT_EQ(space.with(a, 2, 1), a);
  EXPECT_EQ(NasSpace().size(), 15'625U);
}

// The initial architecture of the published runs, in the three ways of writing it.
TEST(NasSpace, ReadsAndWritesTheNamesOfTheBenchmark) {
  using namespace nasbench201;
  const std::string text =
      "|nor_conv_3x3~0|+|avg_pool_3x3~0|avg_pool_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1|"
      "avg_pool_3x3~2|";
  EXPECT_EQ(to_string(kStart), text);
  EXPECT_EQ(parse(text), kStart);
  EXPECT_EQ(parse_digits("242424", true), kStart);
  EXPECT_EQ(parse_digits("344334", false), kStart);
  std::set<std::string> all;
  for (Architecture a = 0; a < NasSpace().size(); ++a) {
    EXPECT_EQ(parse(to_string(a)), a);
    all.insert(to_string(a));
  }
  EXPECT_EQ(all.size(), NasSpace().size());
  for (const std::string& bad : {std::string(), std::string("|none~0|"), text + "x", "+" + text,
                                 std::string("|conv~0|+|none~0|none~1|+|none~0|none~1|none~2|"),
                                 std::string("|none~1|+|none~0|none~1|+|none~0|none~1|none~2|")})
    expect_error([&] { parse(bad); }, Errc::data, {"no NAS-Bench-201 architecture"});
  expect_error([] { parse_digits("24242", true); }, Errc::data, {"six digits"});
  expect_error([] { parse_digits("242425", true); }, Errc::data, {"six digits"});
}

// Accuracies 100 a + b for architectures a of a space of 3 edges and 3 operations.
Accuracies small_table(std::uint64_t seed) {
  std::vector<double> values(27);
  Rng rng(Stream(seed, Purpose::user));
  for (double& value : values) value = 100 * rng.uniform();
  return std::make_shared<const std::vector<double>>(values);
}

TEST(Nas, StepsAsThePaperSays) {
  const NasSpace space(3, 3);
  const auto table = small_table(1);
  const NasEnvironment env(space, table, 5);
  EXPECT_EQ(env.num_states(), 27U * 4);
  EXPECT_EQ(env.num_actions(), 3U);
  // Architecture 7 = 0, 2, 1; node 1 edits the second edge: with action 0 it becomes 0, 0, 1 = 1.
  const State s = 7 * 4 + 1;
  EXPECT_FALSE(env.is_terminal(s));
  EXPECT_TRUE(env.is_terminal(7 * 4 + 3));
  EXPECT_EQ(env.reward(7 * 4 + 3, 0, 0), 0);
  int nodes[4] = {};
  for (std::uint32_t i = 0; i < 4000; ++i) {
    Rng rng(Stream(1, Purpose::user, i));
    const Step step = env.step(s, 0, rng);
    EXPECT_EQ(step.next / 4, 1U);
    EXPECT_EQ(step.reward, (*table)[1]);
    EXPECT_EQ(step.done, step.next % 4 == 3);
    ++nodes[step.next % 4];
    const State start = env.reset(rng);
    EXPECT_EQ(start / 4, 5U);
    EXPECT_LT(start % 4, 3U);
  }
  for (const int count : nodes) EXPECT_NEAR(count, 1000, 140);  // 5 standard errors of 27
}

TEST(Nas, ReducedSpaceForgetsTheFirstEdge) {
  const NasSpace space(3, 3);
  const auto table = small_table(1);
  const ReducedNasEnvironment env(space, table, 5, 1);
  EXPECT_EQ(env.num_states(), 9U * 4);
  // Reduced architecture 7 = 2, 1, that is 1, 2, 1 = 16. Node 0 edits edge 1: with action 0 it
  // becomes 1, 0, 1 = 10. Node 2 is the end, node 3 edits nothing.
  EXPECT_EQ(env.reward(7 * 4 + 0, 0, 0), (*table)[10]);
  EXPECT_EQ(env.reward(7 * 4 + 1, 2, 0), (*table)[17]);
  EXPECT_EQ(env.reward(7 * 4 + 3, 0, 0), (*table)[16]);
  EXPECT_EQ(env.reward(7 * 4 + 2, 0, 0), 0);
  EXPECT_TRUE(env.is_terminal(7 * 4 + 2));
  for (std::uint32_t i = 0; i < 100; ++i) {
    Rng rng(Stream(1, Purpose::user, i));
    const Step step = env.step(7 * 4 + 3, 2, rng);
    EXPECT_EQ(step.next / 4, 7U);
    EXPECT_LT(step.next % 4, 3U);  // never comes back to where nothing is edited
  }
  const StateMap map = ReducedNasEnvironment::map(space);
  EXPECT_EQ(map.num_low_states(), env.num_states());
  EXPECT_EQ(map.low_of(25 * 4 + 0), 7U * 4 + 3);  // 25 = 2, 2, 1
  EXPECT_EQ(map.low_of(25 * 4 + 1), 7U * 4 + 0);
  EXPECT_EQ(map.low_of(25 * 4 + 3), 7U * 4 + 2);
  EXPECT_EQ(map.high_of(7 * 4 + 0).size(), 3U);
}

TEST(Nas, RefusesTablesThatDoNotFit) {
  const auto short_table = std::make_shared<const std::vector<double>>(26, 1.0);
  expect_error([&] { NasEnvironment(NasSpace(3, 3), short_table, 0); }, Errc::usage,
               {"26", "27 architectures"});
  const auto nan_table = std::make_shared<const std::vector<double>>(27, std::nan(""));
  expect_error([&] { NasEnvironment(NasSpace(3, 3), nan_table, 0); }, Errc::data, {"no number"});
  expect_error([&] { NasEnvironment(NasSpace(3, 3), small_table(1), 27); }, Errc::usage,
               {"start architecture is 27"});
}

struct SmallProblem {
  std::shared_ptr<const Simulator> high;
  Fidelities pair;
};

SmallProblem small_problem(bool reduced) {
  const NasSpace space(3, 3);
  const auto high = make_simulator(NasEnvironment(space, small_table(1), 5));
  if (!reduced)
    return {high, Fidelities(high, make_simulator(NasEnvironment(space, small_table(2), 5)))};
  return {high, Fidelities(high, make_simulator(ReducedNasEnvironment(space, small_table(2), 5, 1)),
                           ReducedNasEnvironment::map(space))};
}

// The estimator with the exact alpha, on 200,000 paths from one pair and as many free returns:
// its mean against q_high + bias, 4 standard errors, false alarm 6e-5 for each of 12 cases.
void expect_bias_as_computed(bool reduced) {
  const double gamma = 0.9;
  const auto [high, pair] = small_problem(reduced);
  const QTable q = testing::optimal_q(*high->model(), gamma);
  LowPolicy low_policy(pair.map(), pair.num_actions());
  low_policy.update_all(pair.map(), q);
  const EstimatorBias exact = exact_bias(pair, policy_matrix(q.behaviour(0.2)),
                                         policy_matrix(low_policy.q().behaviour(0.2)), gamma);
  constexpr std::uint32_t kPaths = 200'000;
  double largest = 0;
  for (const StateAction start : {StateAction{7 * 4 + 1, 0},
                                  {7 * 4 + 0, 2},
                                  {20 * 4 + 2, 1},
                                  {3 * 4 + 0, 0},
                                  {26 * 4 + 1, 1},
                                  {11 * 4 + 2, 2}}) {
    const std::size_t i = start.state * 3 + start.action;
    largest = std::max(largest, std::abs(exact.bias[i]));
    Moments corrected;
    Episode path, image;
    std::vector<double> g_hi, g_lo;
    for (std::uint32_t k = 0; k < kPaths; ++k) {
      high->record(q.behaviour(0.2), {.seed = 1, .episode = k}, {}, start, path);
      shadow(pair, path, image);
      discounted_returns(path.rewards, gamma, g_hi);
      discounted_returns(image.rewards, gamma, g_lo);
      corrected.add(g_hi[0] - exact.alpha[i] * g_lo[0]);
    }
    Moments free;
    std::vector<RolloutSummary> summaries(kPaths);
    const StateAction low_start = {pair.map().low_of(start.state), start.action};
    pair.low().roll_out(low_policy.q().behaviour(0.2), {.seed = 2}, {.gamma = gamma},
                        {&low_start, 1}, kPaths, summaries);
    for (const RolloutSummary& s : summaries) free.add(s.discounted_return);
    const double estimate = corrected.mean() + exact.alpha[i] * free.mean();
    const double error = std::sqrt(
        (corrected.variance() + exact.alpha[i] * exact.alpha[i] * free.variance()) / kPaths);
    EXPECT_NEAR(estimate, exact.q_high[i] + exact.bias[i], 4 * error) << start.state;
  }
  if (reduced)
    EXPECT_GT(largest, 1);  // else the test would show nothing
  else
    EXPECT_LT(largest, 1e-9);
}

TEST(Nas, EstimatorIsUnbiasedInTheSameSpace) { expect_bias_as_computed(false); }
TEST(Nas, EstimatorHasTheExactBiasInTheReducedSpace) { expect_bias_as_computed(true); }

// The smaller chain over architectures gives what the whole one gives, in both spaces, with ties,
// with exploration, and cut after some steps.
TEST(Nas, AfterStatesGiveTheSameExactValues) {
  const NasSpace space(3, 3);
  const NasEnvironment full(space, small_table(1), 5);
  const ReducedNasEnvironment reduced(space, small_table(2), 5, 1);
  for (const Model* model : {full.model(), reduced.model()}) {
    ASSERT_GT(model->num_afterstates(), 0U);
    QTable q = testing::optimal_q(*model, 0.9);
    for (State s = 0; s < 20; ++s)
      for (Action a = 0; a < 3; ++a) q.set(s, a, 0);  // ties
    for (const double epsilon : {0.0, 0.3})
      for (const std::uint32_t max_steps : {1U, 2U, 7U, 1000U}) {
        const PolicyMatrix policy = policy_matrix(q.behaviour(epsilon));
        const StartValues small = evaluate_from_start(*model, policy, 0.9, max_steps);
        EXPECT_NEAR(small.value, start_value(*model, evaluate_policy(*model, policy, 0.9).v), 1e-9);
        EXPECT_NEAR(small.mean_reward, expected_mean_reward(*model, policy, max_steps), 1e-9)
            << epsilon << " " << max_steps;
      }
  }
}

TEST(Nas, AfterStatesGiveTheSameOptimum) {
  const NasEnvironment full(NasSpace(3, 3), small_table(1), 5);
  const ReducedNasEnvironment reduced(NasSpace(3, 3), small_table(2), 5, 1);
  for (const Model* model : {full.model(), reduced.model()}) {
    const Solution small = solve_afterstates(*model, 0.95);
    const Solution whole = policy_iteration(*model, 0.95);
    for (std::size_t i = 0; i < whole.values.q.size(); ++i)
      EXPECT_NEAR(small.values.q[i], whole.values.q[i], 1e-9);
    for (std::size_t s = 0; s < whole.values.v.size(); ++s)
      EXPECT_NEAR(small.values.v[s], whole.values.v[s], 1e-9);
  }
}

TEST(NasStandIn, HasTheChosenCorrelationAndIsAlwaysTheSame) {
  for (const double wanted : {0.5, 0.9}) {
    const auto high = stand_in_accuracies("in16_valid200_s888", wanted);
    const auto low = stand_in_accuracies("in16_valid12", wanted);
    ASSERT_EQ(high->size(), 15'625U);
    CoMoments m;
    for (std::size_t i = 0; i < high->size(); ++i) m.add((*high)[i], (*low)[i]);
    const double r = m.covariance() / std::sqrt(m.variance_x() * m.variance_y());
    EXPECT_NEAR(r, wanted, 0.03);
    for (const double value : *low) EXPECT_TRUE(value >= 0.83 && value <= 100);
  }
  const auto one = stand_in_accuracies("c10_valid200_s888", 0.9);
  EXPECT_EQ(*one, *stand_in_accuracies("c10_valid200_s888", 0.1));  // the high one is its own
  // All edges removed: nothing gets through. 3x3 convolutions everywhere: among the best.
  EXPECT_EQ((*one)[nasbench201::parse_digits("111111", true)], 10);
  EXPECT_GT((*one)[nasbench201::parse_digits("222222", true)], 85);
  expect_error([] { stand_in_accuracies("c10_valid200", 0.9); }, Errc::spec,
               {"no column 'c10_valid200'", "did you mean"});
}

TEST(NasSearch, CountsDistinctArchitecturesAndKeepsTheBest) {
  const auto table =
      std::make_shared<const std::vector<double>>(std::vector<double>{1, 5, 3, 9, 2});
  TrainedArchitectures trained(table);
  EXPECT_EQ(trained.best_accuracy(), 0);
  for (const Architecture a : {0U, 1U, 1U, 2U}) trained.train(a);
  EXPECT_EQ(trained.count(), 3U);
  EXPECT_EQ(trained.best(), 1U);
  EXPECT_FALSE(trained.all());

  const auto high = stand_in_accuracies("in16_valid200_s888", 0.9);
  const double best = *std::max_element(high->begin(), high->end());
  RandomSearch random(high, 1);
  RegularisedEvolution evolution(NasSpace(), high, 1);
  double random_last = 0;
  double evolution_last = 0;
  for (const std::size_t budget : {1U, 50U, 500U, 2000U}) {
    EXPECT_GE(random.run_to(budget), random_last);
    EXPECT_GE(evolution.run_to(budget), evolution_last);
    random_last = random.run_to(budget);
    evolution_last = evolution.run_to(budget);
  }
  EXPECT_GT(evolution_last, best - 2);  // it does search
  evolution.run_to(10'000);             // and goes on when its population has converged
  EXPECT_EQ(evolution.trained(), 10'000U);
  EXPECT_EQ(random.run_to(15'625), best);
  EXPECT_EQ(RandomSearch(high, 1).run_to(500), RandomSearch(high, 1).run_to(500));
}

}  // namespace
}  // namespace hilo
