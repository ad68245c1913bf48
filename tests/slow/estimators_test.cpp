// All estimators on the paper's problem against exact values: fixed policy, epsilon-greedy on the
// optimal Q (0.1), 200 states, 8 actions, m = 10 n free returns, equal weights, nothing forgotten.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "hilo/core/parallel.hpp"
#include "hilo/estimator/estimator.hpp"
#include "hilo/exact/estimator_bias.hpp"
#include "hilo/rollout/returns.hpp"
#include "hilo/rollout/shadow.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

constexpr double kGamma = 0.99;
constexpr std::size_t kProblems = 10;
constexpr std::size_t kPairs = 120;
constexpr std::uint32_t kCounts[] = {4, 10, 30, 100, 400};
constexpr double kNormal95 = 1.959964;
const char* const kNames[] = {"paper", "finite-m", "bias-aware", "empirical-bayes"};
constexpr std::size_t kNumNames = std::size(kNames);

// Sums over pairs and replicates of one problem at one n.
struct Errors {
  double plain = 0;  // squared errors of the plain mean
  double corrected[kNumNames] = {};
  double covered[kNumNames] = {};
  double count = 0;
};

using ErrorsByCount = std::array<Errors, std::size(kCounts)>;

struct PairMoments {
  CoMoments paired;
  Moments free, coupled;
};

// One replicate: the pairs get n returns each, and at every n of kCounts all estimators are asked.
void replicate(const Fidelities& pair, const Simulator& high, const QTable& q,
               const EstimatorBias& exact, std::uint64_t seed, std::uint32_t replicate_index,
               std::size_t num_counts, ErrorsByCount& errors) {
  const Behaviour behaviour = q.behaviour(0.1);
  std::vector<PairMoments> moments(kPairs);
  std::vector<RolloutSummary> free(10);
  Episode path, image;
  std::vector<double> g;
  const auto start_of = [&](std::size_t k) {
    return StateAction{static_cast<State>(k * 199 / kPairs), static_cast<Action>(k % 8)};
  };
  std::uint32_t n = 0;
  for (std::size_t c = 0; c < num_counts; ++c) {
    for (; n < kCounts[c]; ++n)
      for (std::size_t k = 0; k < kPairs; ++k) {
        const StateAction start = start_of(k);
        const auto pair_index = static_cast<std::uint32_t>(k);
        high.record(behaviour,
                    {.seed = seed,
                     .episode = replicate_index,
                     .first_pair = pair_index,
                     .first_rollout = n},
                    {}, start, path);
        shadow(pair, path, image);
        discounted_returns(path.rewards, kGamma, g);
        const double g_hi = g[0];
        discounted_returns(image.rewards, kGamma, g);
        moments[k].paired.add(g_hi, g[0]);
        moments[k].coupled.add(g[0]);
        pair.low().roll_out(behaviour,
                            {.seed = seed,
                             .purpose = Purpose::low_rollout,
                             .episode = replicate_index,
                             .first_pair = pair_index,
                             .first_rollout = 10 * n},
                            {.gamma = kGamma}, {&start, 1}, 10, free);
        for (const RolloutSummary& s : free) moments[k].free.add(s.discounted_return);
      }
    Errors& e = errors[c];
    e.count += kPairs;
    for (std::size_t i = 0; i < kNumNames; ++i) {
      const auto estimator = make_estimator({.name = kNames[i], .forgetting = 1}, kPairs);
      for (int round = 0; round < 2; ++round)  // the second with what the first has learnt
        for (std::size_t k = 0; k < kPairs; ++k)
          estimator->update(k, {moments[k].paired, moments[k].free, moments[k].coupled});
      for (std::size_t k = 0; k < kPairs; ++k) {
        const StateAction start = start_of(k);
        const double truth = exact.q_high[start.state * 8 + start.action];
        const CorrectedEstimate estimate =
            estimator->estimate({moments[k].paired, moments[k].free, moments[k].coupled});
        const double error = estimate.value - truth;
        e.corrected[i] += error * error;
        e.covered[i] += std::abs(error) <= kNormal95 * estimate.standard_error ? 1 : 0;
        if (i == 0) {
          const double plain = moments[k].paired.mean_x() - truth;
          e.plain += plain * plain;
        }
      }
    }
  }
}

ErrorsByCount measure(double snr_db, Projection projection, std::uint64_t problem) {
  const auto mdp = make_random_mdp({}, problem);
  const Fidelities pair = testing::degraded_pair(mdp, snr_db, projection, problem);
  const auto high = make_simulator(mdp);
  const QTable q = testing::optimal_q(*mdp, kGamma);
  const PolicyMatrix policy = policy_matrix(q.behaviour(0.1));
  const EstimatorBias exact = exact_bias(pair, policy, policy, kGamma);
  ErrorsByCount errors;
  // Many replicates are cheap while n is small: 8 up to n = 30, and 2 of them go on to 400.
  for (std::uint32_t r = 0; r < 8; ++r)
    replicate(pair, *high, q, exact, problem, r, r < 2 ? std::size(kCounts) : 3, errors);
  return errors;
}

TEST(EstimatorsSlow, EmpiricalBayesIsBetterThanPlainMonteCarloEverywhere) {
  // What another implementation had, bisection rows: MSE relative to plain Monte Carlo.
  const double prototype[3][std::size(kCounts)] = {
      {.52, .55, .65, .80, .93}, {.25, .26, .34, .51, .76}, {.16, .17, .19, .23, .39}};
  const double snrs[] = {-10, -3, 3};
  constexpr double kBreakEven[] = {1.6, 21, 331};
  for (const Projection projection : {Projection::bisection, Projection::simplex})
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<ErrorsByCount> all(kProblems);
      parallel_for(kProblems, 0, [&](std::size_t problem) {
        all[problem] = measure(snrs[k], projection, problem);
      });
      for (std::size_t c = 0; c < std::size(kCounts); ++c) {
        std::printf("%+3.0f dB %-9s n %3u ", snrs[k], std::string(name_of(projection)).c_str(),
                    kCounts[c]);
        for (std::size_t i = 0; i < kNumNames; ++i) {
          Moments ratio;
          double covered = 0, count = 0;
          for (const ErrorsByCount& errors : all) {
            ratio.add(errors[c].corrected[i] / errors[c].plain);
            covered += errors[c].covered[i];
            count += errors[c].count;
          }
          const double se = std::sqrt(ratio.variance() / static_cast<double>(kProblems));
          const double upper = ratio.mean() + 2.262 * se;  // t with 9 degrees of freedom
          std::printf("  %s %7.3f +- %.3f (%.0f %%)", kNames[i], ratio.mean(), se,
                      100 * covered / count);
          // The bias of the paper's estimator: well beyond its break-even (docs/departures.md: 1.6,
          // 21 and 331 returns with bisection) it is worse than plain Monte Carlo.
          if (std::string(kNames[i]) == "paper" && projection == Projection::bisection &&
              kCounts[c] > 2 * kBreakEven[k]) {
            EXPECT_GT(ratio.mean() - 2.262 * se, 1);
          }
          if (std::string(kNames[i]) != "empirical-bayes") continue;
          EXPECT_LT(ratio.mean(), 1);
          EXPECT_LT(upper, 1.05);
          if (projection == Projection::bisection) {
            EXPECT_LT(ratio.mean(), 1.25 * prototype[k][c]);
          }
          if (kCounts[c] >= 10) {
            EXPECT_GE(covered / count, 0.90);
            EXPECT_LE(covered / count, 0.99);
          }
        }
        std::printf("\n");
      }
    }
}

}  // namespace
}  // namespace hilo
