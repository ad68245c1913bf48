#include "hilo/evaluate/evaluation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "hilo/core/random.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

// Returns of simulators at an address: a function of the address, as with real simulators.
using ValueOf = std::function<double(std::size_t simulator, bool free, std::uint64_t index,
                                     std::size_t policy)>;

double noise(std::size_t stream, bool free, std::uint64_t index) {
  Rng rng(Stream(17, Purpose::user, static_cast<std::uint32_t>(index), free ? 1 : 0,
                 static_cast<std::uint32_t>(stream)));
  return rng.normal();
}

// Cheap simulators see the expensive return with errors of the given sizes.
ValueOf noisy(std::vector<double> errors) {
  return [errors](std::size_t s, bool free, std::uint64_t index, std::size_t policy) {
    const double common = noise(0, free, index) + static_cast<double>(policy);
    return s == 0 ? common + 5 : common + errors[s - 1] * noise(s, free, index);
  };
}

struct Spent {
  std::uint64_t high = 0, low = 0;
  std::size_t batches = 0;
};

// Runs an evaluation; in every batch the episodes are told in a shuffled order.
Spent run(Evaluation& evaluation, const ValueOf& value, std::size_t policies,
          const std::vector<double>& costs, std::uint64_t shuffle = 0) {
  std::mt19937_64 random(shuffle);
  Spent spent;
  while (true) {
    std::vector<EvaluationRound> rounds = evaluation.ask();
    if (rounds.empty()) return spent;
    ++spent.batches;
    if (shuffle > 0) std::ranges::shuffle(rounds, random);
    for (const EvaluationRound& round : rounds) {
      std::vector<double> values;
      for (std::size_t p = 0; p < policies; ++p)
        values.push_back(value(round.simulator, round.free, round.index, p));
      evaluation.tell(round, values, costs[round.simulator] * static_cast<double>(policies));
      ++(round.simulator == 0 ? spent.high : spent.low);
    }
  }
}

TEST(Evaluation, UsesAGoodCheapSimulatorAndStaysWithinItsBudget) {
  Evaluation evaluation({.num_cheap = 1, .episodes = 100});
  const Spent spent = run(evaluation, noisy({0.1}), 1, {1, 0.02});
  EXPECT_TRUE(evaluation.is_done());
  EXPECT_LT(spent.high, 90U);
  EXPECT_GT(spent.low, 500U);
  EXPECT_LE(evaluation.spent(), 100 * (1 + 1e-9));
  EXPECT_GT(evaluation.spent(), 98);
  const EvaluatedValue value = evaluation.value(0);
  EXPECT_TRUE(value.best.controlled);
  EXPECT_GT(value.worth_episodes, 400);
  EXPECT_LT(value.best.low, 5);
  EXPECT_GT(value.best.high, 5);
  EXPECT_LT(value.best.standard_error, 0.06);
  const std::vector<CheapVerdict> verdicts = evaluation.verdicts();
  EXPECT_TRUE(verdicts[0].used);
  EXPECT_GT(verdicts[0].low, 0.98);
  EXPECT_NEAR(verdicts[0].coefficient, 1, 0.1);
}

TEST(Evaluation, SaysWhyItDidNotUseACheapSimulator) {
  Evaluation bad({.num_cheap = 1, .episodes = 100});
  run(bad, noisy({30}), 1, {1, 0.02});
  EXPECT_FALSE(bad.value(0).best.controlled);
  EXPECT_NE(bad.verdicts()[0].reason.find("do not predict"), std::string::npos);
  EXPECT_GE(bad.num_pairs(), 97U);  // the pilot's cheap part is at most 3 %

  Evaluation dear({.num_cheap = 1, .episodes = 100});
  run(dear, noisy({0.1}), 1, {1, 0.9});
  EXPECT_NE(dear.verdicts()[0].reason.find("not tried"), std::string::npos);
  EXPECT_EQ(dear.num_episodes(1), 1U);
  EXPECT_EQ(dear.num_pairs(), 99U);

  Evaluation small({.num_cheap = 1, .episodes = 5});
  run(small, noisy({0.1}), 1, {1, 0.001});
  EXPECT_NE(small.verdicts()[0].reason.find("too small"), std::string::npos);
}

TEST(Evaluation, ChoosesAmongSeveralCheapSimulators) {
  Evaluation evaluation({.num_cheap = 3, .episodes = 300});
  run(evaluation, noisy({0.2, 20, 1}), 1, {1, 0.02, 0.02, 0.001});
  const std::vector<CheapVerdict> verdicts = evaluation.verdicts();
  EXPECT_TRUE(verdicts[0].used);
  EXPECT_FALSE(verdicts[1].used);  // it is mostly noise
  EXPECT_EQ(evaluation.correlations().size(), 4U);
  EXPECT_NEAR(evaluation.correlations()[0][1], 0.98, 0.02);
}

// Several episodes may run at the same time and end in any order.
TEST(Evaluation, DoesNotDependOnTheOrderOfArrival) {
  std::vector<double> values;
  for (const std::uint64_t shuffle : {0U, 1U, 2U, 3U}) {
    Evaluation evaluation({.num_cheap = 2, .cost = 123.4});
    run(evaluation, noisy({0.3, 1}), 1, {1.1, 0.013, 0.0017}, shuffle);
    EXPECT_LE(evaluation.spent(), 123.4 * (1 + 1e-9));
    values.push_back(evaluation.value(0).best.value);
    values.push_back(evaluation.value(0).best.high);
    values.push_back(static_cast<double>(evaluation.num_pairs()));
  }
  for (std::size_t i = 3; i < values.size(); ++i) EXPECT_EQ(values[i], values[i % 3]);
}

TEST(Evaluation, ComparesPoliciesInPairs) {
  // Policy 1 is better by exactly 1 in every episode, whatever the noise.
  Evaluation evaluation({.num_cheap = 1, .num_policies = 2, .episodes = 100});
  const ValueOf value = [](std::size_t s, bool free, std::uint64_t index, std::size_t policy) {
    const double common = 10 * noise(0, free, index);
    const double own = noise(5 + policy, free, index);
    return common + (policy == 1 ? 1.0 : 0.0) + own +
           (s > 0 ? 0.05 * noise(8 + policy, free, index) : 0);
  };
  run(evaluation, value, 2, {1, 0.01});
  const EvaluatedValue difference = evaluation.difference(1, 0);
  EXPECT_TRUE(difference.best.controlled);
  EXPECT_LT(difference.best.standard_error, 0.15);  // of two independent values it would be 2
  EXPECT_LT(difference.best.low, 1);
  EXPECT_GT(difference.best.high, 1);
  // More intervals that hold together are wider.
  EXPECT_GT(evaluation.difference(1, 0, 10).best.high, difference.best.high);
  EXPECT_LE(evaluation.spent(), 100 * (1 + 1e-9));
}

TEST(Evaluation, StopsAtAWidth) {
  Evaluation evaluation({.num_cheap = 1, .episodes = 5000, .until = 0.1});
  run(evaluation, noisy({0.3}), 1, {1, 0.01});
  const EvaluatedValue value = evaluation.value(0);
  EXPECT_LE(std::max(value.best.high - value.best.value, value.best.value - value.best.low), 0.1);
  EXPECT_LT(evaluation.spent(), 700);  // plain episodes would need about 400 with one look alone
  ASSERT_GT(evaluation.stages().size(), 1U);
  double alpha = 0;
  for (const EvaluationStage& stage : evaluation.stages()) alpha += stage.alpha;
  EXPECT_LE(alpha, 0.05);

  Evaluation too_little({.num_cheap = 0, .episodes = 60, .until = 0.01});
  run(too_little, noisy({}), 1, {1});
  EXPECT_EQ(too_little.num_pairs(), 60U);
  EXPECT_GT(too_little.stages().back().half_width, 0.01);
}

TEST(Evaluation, SaysThatConstantReturnsHaveNoInterval) {
  Evaluation evaluation({.num_cheap = 1, .episodes = 20});
  run(evaluation, [](auto...) { return 3.0; }, 1, {1, 0.01});
  const EvaluatedValue value = evaluation.value(0);
  EXPECT_FALSE(value.best.has_interval);
  EXPECT_NE(value.caution.find("equal"), std::string::npos);
  Evaluation until({.num_cheap = 0, .episodes = 5000, .until = 0.1});
  run(until, [](auto...) { return 3.0; }, 1, {1});
  EXPECT_LT(until.num_pairs(), 50U);  // it does not spend everything on nothing
}

TEST(Evaluation, LeavesOutWhatFailed) {
  Evaluation evaluation({.num_cheap = 1, .episodes = 50});
  const ValueOf value = noisy({0.2});
  while (true) {
    const std::vector<EvaluationRound> rounds = evaluation.ask();
    if (rounds.empty()) break;
    for (const EvaluationRound& round : rounds) {
      if (round.simulator == 0 && round.index % 5 == 2) {
        evaluation.skip(round.index, 0.5);
        continue;
      }
      if (round.simulator > 0 && evaluation.is_skipped(round.index) && !round.free) continue;
      const double v = value(round.simulator, round.free, round.index, 0);
      evaluation.tell(round, {&v, 1}, round.simulator == 0 ? 1 : 0.02);
    }
  }
  EXPECT_GT(evaluation.skipped(), 3U);
  EXPECT_LE(evaluation.spent(), 50 * (1 + 0.05));
  EXPECT_TRUE(evaluation.value(0).best.has_interval);
}

TEST(Evaluation, DropsACheapSimulatorThatFails) {
  Evaluation evaluation({.num_cheap = 2, .episodes = 60});
  const ValueOf value = noisy({0.1, 0.2});
  bool dropped = false;
  while (true) {
    const std::vector<EvaluationRound> rounds = evaluation.ask();
    if (rounds.empty()) break;
    for (const EvaluationRound& round : rounds) {
      if (round.simulator == 1 && round.index > 4) {
        if (!dropped) evaluation.drop(1, "it failed: no licence");
        dropped = true;
        continue;
      }
      const double v = value(round.simulator, round.free, round.index, 0);
      evaluation.tell(round, {&v, 1}, round.simulator == 0 ? 1 : 0.01);
    }
  }
  EXPECT_TRUE(dropped);
  EXPECT_FALSE(evaluation.verdicts()[0].used);
  EXPECT_EQ(evaluation.verdicts()[0].reason, "it failed: no licence");
  EXPECT_TRUE(evaluation.verdicts()[1].used);
}

// Episodes that fail cost, too, and are not replaced beyond the budget.
TEST(Evaluation, FailuresDoNotOverspend) {
  for (const double lost : {0.5, 1.0, 3.0}) {
    Evaluation evaluation({.num_cheap = 1, .episodes = 100});
    const ValueOf value = noisy({0.2});
    std::mt19937_64 random(5);
    while (true) {
      const std::vector<EvaluationRound> rounds = evaluation.ask();
      if (rounds.empty()) break;
      for (const EvaluationRound& round : rounds) {
        if (round.simulator == 0 && random() % 10 < 3) {
          evaluation.skip(round.index, lost);
          continue;
        }
        const double v = value(round.simulator, round.free, round.index, 0);
        evaluation.tell(round, {&v, 1}, round.simulator == 0 ? 1 : 0.02);
      }
    }
    EXPECT_LT(evaluation.actual_cost(), 100 + 10 * lost) << lost;
  }
}

// The last cheap simulator may fail during the pilot.
TEST(Evaluation, GoesOnWithoutTheLastCheapSimulator) {
  Evaluation evaluation({.num_cheap = 1, .episodes = 40});
  const ValueOf value = noisy({0.2});
  while (true) {
    const std::vector<EvaluationRound> rounds = evaluation.ask();
    if (rounds.empty()) break;
    for (const EvaluationRound& round : rounds) {
      if (round.simulator == 1 && round.index > 2) {
        evaluation.drop(1, "it failed");
        break;
      }
      const double v = value(round.simulator, round.free, round.index, 0);
      evaluation.tell(round, {&v, 1}, round.simulator == 0 ? 1 : 0.01);
    }
  }
  EXPECT_GE(evaluation.num_pairs(), 39U);
}

TEST(Evaluation, NeverAsksACheapSimulatorThatIsKnownToBeDear) {
  Evaluation evaluation({.num_cheap = 1, .episodes = 20, .known_costs = {1, 30}});
  run(evaluation, noisy({0.1}), 1, {1, 30});
  EXPECT_EQ(evaluation.num_episodes(1), 0U);
  EXPECT_EQ(evaluation.num_pairs(), 20U);
}

TEST(Evaluation, ABudgetInCostNeedsEpisodesThatCost) {
  Evaluation evaluation({.num_cheap = 0, .cost = 10});
  expect_error([&] { run(evaluation, noisy({}), 1, {0}); }, Errc::usage, {"cost nothing"});
}

TEST(Evaluation, RefusesWhatMakesNoSense) {
  expect_error([] { Evaluation({.num_cheap = 5, .episodes = 10}); }, Errc::usage, {"5", "4"});
  expect_error([] { Evaluation({.num_cheap = 0}); }, Errc::usage, {"budget"});
  Evaluation evaluation({.num_cheap = 0, .episodes = 10});
  const double nan = std::nan("");
  expect_error([&] { evaluation.tell({}, {&nan, 1}, 1); }, Errc::simulator, {"finite"});
  const double one = 1;
  evaluation.tell({}, {&one, 1}, 1);
  expect_error([&] { evaluation.tell({}, {&one, 1}, 1); }, Errc::usage, {"twice"});
  expect_error([&] { evaluation.tell({.simulator = 1}, {&one, 1}, 1); }, Errc::usage, {"asked"});
}

// Rare large errors of the cheap simulator are not in the first pairs, but the loss stays small:
// the mean squared error is at most 1.1 times that of plain Monte Carlo (slow tests have more of
// this).
TEST(Evaluation, ARareSurpriseCostsLittle) {
  double squares = 0;
  constexpr int kReplicates = 400;
  for (int r = 0; r < kReplicates; ++r) {
    std::mt19937_64 random(static_cast<std::uint64_t>(r));
    std::normal_distribution<> normal;
    std::uniform_real_distribution<> uniform;
    std::vector<std::array<double, 2>> pairs, free;
    const auto at = [&](std::vector<std::array<double, 2>>& all, std::uint64_t i) {
      while (all.size() <= i) {
        const double z = normal(random);
        all.push_back({z, z + (uniform(random) < 0.03 ? 30 * normal(random) : 0)});
      }
      return all[i];
    };
    Evaluation evaluation({.num_cheap = 1, .episodes = 100});
    run(evaluation,
        [&](std::size_t s, bool is_free, std::uint64_t index, std::size_t) {
          return at(is_free ? free : pairs, index)[s];
        },
        1, {1, 0.1});
    squares += std::pow(evaluation.value(0).best.value, 2);
  }
  // The standard error of the ratio is 7 %.
  EXPECT_LT(squares / kReplicates * 100, 1.1 + 4 * 0.07);
}

}  // namespace
}  // namespace hilo
