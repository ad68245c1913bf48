// What `hilo evaluate` promises, over many replicates: no bias, variances as predicted, intervals
// that hold, and never much worse than plain Monte Carlo. HILO_REPLICATES sets how many; the tables
// of docs/evaluate.md were made with the numbers that stand there.
#include "hilo/evaluate/evaluation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "hilo/core/parallel.hpp"
#include "hilo/core/student.hpp"
#include "hilo/exact/evaluate.hpp"
#include "hilo/exact/policy_matrix.hpp"
#include "support/problems.hpp"
#include "support/return_pairs.hpp"

namespace hilo {
namespace {

using testing::return_pairs;
using testing::ReturnPair;

std::uint64_t replicates(std::uint64_t usual) {
  const char* given = std::getenv("HILO_REPLICATES");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : usual;
}

// HILO_KIND, a part of its name, takes one kind of pairs alone.
bool is_wanted(const ReturnPair& pair) {
  const char* kind = std::getenv("HILO_KIND");
  return kind == nullptr || pair.name.find(kind) != std::string::npos;
}

// Episodes that are drawn when they are first asked for.
class Drawn {
 public:
  Drawn(const ReturnPair& pair, std::mt19937_64& random) : pair_(pair), random_(random) {}
  double operator()(const EvaluationRound& round) {
    auto& all = round.free ? free_ : pairs_;
    while (all.size() <= round.index) pair_.draw(random_, all.emplace_back());
    return all[round.index][round.simulator];
  }
  // The mean of the first expensive returns, as plain Monte Carlo would have it.
  double plain_mean_of(std::uint64_t count) {
    double sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) sum += (*this)({.simulator = 0, .index = i});
    return sum / static_cast<double>(count);
  }

 private:
  const ReturnPair& pair_;
  std::mt19937_64& random_;
  std::vector<ReturnPair::Returns> pairs_, free_;
};

struct Totals {
  double squares = 0, errors = 0, held = 0, used = 0, high = 0, spent = 0;
  double plain = 0;  // squared errors of plain Monte Carlo with the same random numbers
  std::uint64_t n = 0;
  // Of parts that are independent, for the standard error of squares / plain.
  double squares_squared = 0, plain_squared = 0, product = 0;

  void add(const Totals& part) {
    squares += part.squares;
    plain += part.plain;
    errors += part.errors;
    held += part.held;
    used += part.used;
    high += part.high;
    spent += part.spent;
    n += part.n;
    squares_squared += part.squares_squared;
    plain_squared += part.plain_squared;
    product += part.product;
  }
  double ratio() const { return squares / plain; }
  double ratio_error() const {
    return std::sqrt(squares_squared - 2 * ratio() * product + ratio() * ratio() * plain_squared) /
           plain;
  }
};

// Cheap simulator l costs 1 / (l cost_ratio).
Totals evaluate_often(const ReturnPair& pair, const EvaluationRules& rules, double cost_ratio,
                      std::uint64_t count, std::uint64_t seed) {
  constexpr std::size_t kChunks = 64;
  std::vector<Totals> chunks(kChunks);
  parallel_for(kChunks, 0, [&](std::size_t chunk) {
    std::mt19937_64 random(seed * 1000 + chunk);
    Totals& t = chunks[chunk];
    for (std::uint64_t r = chunk; r < count; r += kChunks) {
      Evaluation evaluation(rules);
      Drawn drawn(pair, random);
      for (auto rounds = evaluation.ask(); !rounds.empty(); rounds = evaluation.ask())
        for (const EvaluationRound& round : rounds) {
          const double value = drawn(round);
          const double cost =
              round.simulator == 0 ? 1 : 1 / (cost_ratio * static_cast<double>(round.simulator));
          evaluation.tell(round, {&value, 1}, cost);
        }
      const ValueEstimate e = evaluation.value(0).best;
      const double error = e.value - pair.mean;
      t.squares += error * error;
      t.errors += error;
      if (rules.until <= 0)
        t.plain += std::pow(
            drawn.plain_mean_of(static_cast<std::uint64_t>(rules.episodes)) - pair.mean, 2);
      t.held += (e.has_interval ? e.low <= pair.mean && pair.mean <= e.high : error == 0) ? 1 : 0;
      t.used += e.controlled ? 1 : 0;
      t.high += static_cast<double>(evaluation.num_pairs());
      t.spent += evaluation.spent();
      ++t.n;
    }
  });
  Totals sum;
  for (Totals& t : chunks) {
    t.squares_squared = t.squares * t.squares;
    t.plain_squared = t.plain * t.plain;
    t.product = t.squares * t.plain;
    sum.add(t);
  }
  return sum;
}

// At equal cost, whatever the cheap simulators are. Plain Monte Carlo has the same random numbers,
// so that the ratio is known much better than each of the two. Replicates come in tenths; a row
// ends early where the ratio is below the bound by five standard errors.
void expect_never_much_worse(const std::vector<ReturnPair>& kinds, std::uint64_t count,
                             double bound) {
  double worst = 0;
  for (const std::size_t cheap : {1U, 3U})
    for (const ReturnPair& pair : kinds) {
      if (!is_wanted(pair)) continue;
      for (const double budget : {100.0, 1000.0})
        for (const double ratio : {2.0, 10.0, 100.0}) {
          Totals t;
          for (std::uint64_t tenth = 0; tenth < 10; ++tenth) {
            t.add(evaluate_often(pair, {.num_cheap = cheap, .episodes = budget}, ratio, count / 10,
                                 70 + tenth));
            if (t.ratio() + 5 * t.ratio_error() < bound) break;
          }
          const auto n = static_cast<double>(t.n);
          worst = std::max(worst, t.ratio());
          std::printf("| %s | %zu | %.0f | %.0f | %.0f | %.3f ± %.3f | %.0f | %.0f %% | %+.3f |\n",
                      pair.name.c_str(), cheap, budget, ratio, n, t.ratio(), t.ratio_error(),
                      t.high / n, 100 * t.used / n, t.errors / n / std::sqrt(t.squares / n));
          std::fflush(stdout);
          EXPECT_LT(t.ratio() - 4 * t.ratio_error(), bound)
              << pair.name << " " << cheap << " " << budget << " " << ratio;
        }
    }
  std::printf("worst ratio: %.3f\n", worst);
}

TEST(SlowEvaluation, IsNeverMuchWorseThanPlainMonteCarlo) {
  expect_never_much_worse(return_pairs(), replicates(2000), 1.05);
}

// Kinds that no rule of the planning was chosen by. One of them, a cheap simulator that never
// fails, has up to 1.102 (docs/evaluate.md); what is promised for the others does not hold for it.
TEST(SlowEvaluation, IsNeverMuchWorseOnOtherKinds) {
  for (const ReturnPair& pair : testing::other_return_pairs())
    expect_never_much_worse({pair}, replicates(2000),
                            pair.name == "the cheap one never fails" ? 1.12 : 1.05);
}

// With a fixed number of pairs and free returns: coverage of the intervals.
TEST(SlowEvaluation, IntervalsHoldTheMean) {
  const std::uint64_t count = replicates(4000);
  for (const ReturnPair& pair : return_pairs()) {
    if (!is_wanted(pair)) continue;
    for (const std::size_t cheap : {1U, 3U})
      for (const std::size_t n : {cheap + 8, std::size_t{20}, std::size_t{50}}) {
        std::mt19937_64 random(99);
        double held = 0, plain_held = 0, student_held = 0;
        for (std::uint64_t r = 0; r < count; ++r) {
          PairedSample sample;
          sample.low.resize(cheap);
          sample.free.resize(cheap);
          ReturnPair::Returns drawn{};
          for (std::size_t j = 0; j < 11 * n; ++j) {
            pair.draw(random, drawn);
            if (j < n) sample.high.push_back(drawn[0]);
            for (std::size_t l = 0; l < cheap; ++l)
              (j < n ? sample.low : sample.free)[l].push_back(drawn[l + 1]);
          }
          const ControlledMean controlled = controlled_mean(sample);
          const ControlledMean plain = plain_mean(sample.high);
          // Cheap simulators are used if they are likely to help, as in an evaluation.
          const bool better =
              predictability({&sample, 1}).lower(1.645) > 0 && controlled.variance < plain.variance;
          const Bounds bounds = interval_of(better ? controlled : plain, 0.05);
          const Bounds without = interval_of(plain, 0.05);
          const double half =
              std::sqrt(plain.variance) * student_t_quantile(0.975, static_cast<double>(n) - 1);
          held += bounds.low <= pair.mean && pair.mean <= bounds.high ? 1 : 0;
          plain_held += without.low <= pair.mean && pair.mean <= without.high ? 1 : 0;
          student_held += std::abs(plain.value - pair.mean) <= half ? 1 : 0;
        }
        const auto total = static_cast<double>(count);
        std::printf("| %s | %.1f | %zu | %zu | %.1f %% | %.1f %% | %.1f %% |\n", pair.name.c_str(),
                    pair.skewness, cheap, n, 100 * held / total, 100 * plain_held / total,
                    100 * student_held / total);
        std::fflush(stdout);
        // 4 standard errors of a share of 0.93.
        const double margin = 4 * std::sqrt(0.93 * 0.07 / total);
        if (std::abs(pair.skewness) <= 1) {
          EXPECT_GT(held / total, 0.92 - margin) << pair.name << " " << cheap << " " << n;
          EXPECT_LT(held / total, 0.98 + margin) << pair.name << " " << cheap << " " << n;
        } else {
          EXPECT_GT(held / total, student_held / total - 0.01 - margin)
              << pair.name << " " << cheap << " " << n;
        }
      }
  }
}

TEST(SlowEvaluation, StoppingAtAWidthKeepsTheLevel) {
  const std::uint64_t count = replicates(4000);
  for (const ReturnPair& pair : return_pairs()) {
    if (std::abs(pair.skewness) > 1) continue;
    for (const std::size_t cheap : {0U, 1U, 3U}) {
      const double width = 0.25 * std::sqrt(pair.variance);
      const Totals t = evaluate_often(pair, {.num_cheap = cheap, .episodes = 2000, .until = width},
                                      20, count / 4, 11);
      const double held = t.held / static_cast<double>(t.n);
      std::printf(
          "| %s | %zu | %.1f %% | %.0f | %.0f | %+.3f |\n", pair.name.c_str(), cheap, 100 * held,
          t.high / static_cast<double>(t.n), t.spent / static_cast<double>(t.n),
          t.errors / static_cast<double>(t.n) / std::sqrt(t.squares / static_cast<double>(t.n)));
      std::fflush(stdout);
      EXPECT_GT(held, 0.92 - 4 * std::sqrt(0.93 * 0.07 / static_cast<double>(t.n))) << pair.name;
    }
  }
}

// Tables, where the truth is known: 20 problems, a fixed policy, a fixed allocation, leave-one-out
// coefficients. Bias, the variance with true coefficients, and what the allocation predicts.
TEST(SlowEvaluation, AgreesWithExactTruthOnTables) {
  const std::uint64_t count = replicates(20'000);
  constexpr std::size_t kPairs = 12, kFree = 60;
  const Horizon horizon{.gamma = 0.9, .max_steps = 10'000};
  for (std::uint64_t problem = 0; problem < 20; ++problem) {
    const auto high = testing::small_mdp(problem);
    const auto low = degrade(*high, {.snr_db = 10, .projection = Projection::simplex}, problem).mdp;
    const auto high_simulator = make_simulator(high, Sampling::inverse_cdf);
    const auto low_simulator = make_simulator(low, Sampling::inverse_cdf);
    QTable q(high->num_states(), high->num_actions());
    for (State s = 0; s < high->num_states(); ++s)
      q.set(s, static_cast<Action>(s % high->num_actions()), 1);
    const Behaviour policy = q.behaviour(0.2);
    const double truth = start_value(*high, evaluate_policy(*high, policy_matrix(policy), 0.9).v);

    // Covariances from as many pairs as all replicates have together.
    std::vector<RolloutSummary> h(count * kPairs), l(count * kPairs), f(count * kFree);
    const StreamAddress paired{.seed = problem, .purpose = Purpose::evaluation};
    const StreamAddress free{.seed = problem, .purpose = Purpose::evaluation_free};
    high_simulator->run_episodes(policy, paired, horizon, h);
    low_simulator->run_episodes(policy, paired, horizon, l);
    low_simulator->run_episodes(policy, free, horizon, f);
    CoMoments moments;
    for (std::size_t i = 0; i < h.size(); ++i)
      moments.add(h[i].discounted_return, l[i].discounted_return);
    Covariances c(2);
    c.set(0, 0, moments.variance_x());
    c.set(1, 1, moments.variance_y());
    c.set(0, 1, moments.covariance());
    const double beta = static_cast<double>(kFree) / (kFree + kPairs) * c(0, 1) / c.variance(1);

    Moments estimated, with_truth;
    for (std::uint64_t r = 0; r < count; ++r) {
      PairedSample sample{.high = {}, .low = {{}}, .free = {{}}};
      double high_sum = 0, low_sum = 0, free_sum = 0;
      for (std::size_t j = 0; j < kPairs; ++j) {
        sample.high.push_back(h[r * kPairs + j].discounted_return);
        sample.low[0].push_back(l[r * kPairs + j].discounted_return);
        high_sum += sample.high.back() / kPairs;
        low_sum += sample.low[0].back() / kPairs;
      }
      for (std::size_t j = 0; j < kFree; ++j) {
        sample.free[0].push_back(f[r * kFree + j].discounted_return);
        free_sum += sample.free[0].back() / kFree;
      }
      estimated.add(controlled_mean(sample).value);
      with_truth.add(high_sum + beta * (free_sum - low_sum));
    }
    const auto n = static_cast<double>(count);
    const double z = (estimated.mean() - truth) / std::sqrt(estimated.variance() / n);
    EXPECT_LT(std::abs(z), 4) << problem;  // a false alarm in 1 of 16 000
    const double formula = controlled_variance(c, kPairs, std::vector<double>{kFree});
    // The standard error of a variance of nearly normal values.
    const double ratio = with_truth.variance() / formula;
    EXPECT_LT(std::abs(ratio - 1), 4 * std::sqrt(2 / n) + 0.01) << problem;
    std::printf("| %lu | %.3f | %+.2f | %.3f | %.3f |\n", static_cast<unsigned long>(problem),
                c.correlation(0, 1), z, ratio, estimated.variance() / (c.variance(0) / kPairs));
  }
}

// The variance that a plan predicts, against what comes out, if covariances are known well.
TEST(SlowEvaluation, PlansPredictTheirVariance) {
  const std::uint64_t count = replicates(4000);
  for (const ReturnPair& pair : return_pairs()) {
    if (pair.name.find("normal, correlation 0.9") != 0) continue;
    double predicted = 0, squares = 0;
    for (std::uint64_t r = 0; r < count; ++r) {
      std::mt19937_64 random(r);
      Evaluation evaluation({.num_cheap = 1, .episodes = 1000});
      Drawn drawn(pair, random);
      for (auto rounds = evaluation.ask(); !rounds.empty(); rounds = evaluation.ask())
        for (const EvaluationRound& round : rounds) {
          const double value = drawn(round);
          evaluation.tell(round, {&value, 1}, round.simulator == 0 ? 1 : 0.02);
        }
      predicted += evaluation.predicted_variance().value_or(0) / static_cast<double>(count);
      squares += std::pow(evaluation.value(0).best.value, 2) / static_cast<double>(count);
    }
    std::printf("| %s | %.3f |\n", pair.name.c_str(), predicted / squares);
    EXPECT_NEAR(predicted / squares, 1, 0.1 + 4 * std::sqrt(2.0 / static_cast<double>(count)));
  }
}

}  // namespace
}  // namespace hilo
