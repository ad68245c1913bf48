// Is the verdict right? Pairs of fidelities of many kinds, 20 problems of each. The truth is the
// realised change of the mean squared error, by brute force over trainings; within two points of 0
// either verdict is right.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>

#include "hilo/core/parallel.hpp"
#include "hilo/diagnose/diagnosis.hpp"
#include "hilo/env/docking.hpp"
#include "support/problems.hpp"
#include "support/realised_change.hpp"
#include "support/unseen_pairs.hpp"

namespace hilo {
namespace {

constexpr double kGamma = 0.99;
constexpr std::uint64_t kSeeds = 20;
constexpr double kPlannedReturns = 50;

using Mdp = std::shared_ptr<const TabularMdp>;

Mdp problem(std::uint64_t seed) {
  return make_random_mdp({.states = 40, .actions = 4, .start_states = 10}, seed);
}

Fidelities pair_of(const Mdp& high, const Mdp& low) {
  return {make_simulator(high), make_simulator(low)};
}

using Case = testing::PairKind;

Fidelities degraded(std::uint64_t seed, double snr_db, Projection projection) {
  return testing::degraded_pair(problem(seed), snr_db, projection, seed);
}

Fidelities rewarded(std::uint64_t seed, const std::function<double(double)>& f) {
  const Mdp high = problem(seed);
  return pair_of(high, testing::with_rewards(*high, [&](State s, Action a) {
                   return f(high->expected_reward(s, a));
                 }));
}

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"identical", [](std::uint64_t seed) { return rewarded(seed, [](double r) { return r; }); }},
      {"scaled", [](std::uint64_t seed) { return rewarded(seed, [](double r) { return 3 * r; }); }},
      {"shifted",
       [](std::uint64_t seed) { return rewarded(seed, [](double r) { return r + 1; }); }},
      {"anti-correlated",
       [](std::uint64_t seed) { return rewarded(seed, [](double r) { return -r; }); }},
      {"constant", [](std::uint64_t seed) { return rewarded(seed, [](double) { return 0.0; }); }},
      {"independent noise",
       [](std::uint64_t seed) {
         // Another problem altogether, its rewards fair coins of their own.
         const Mdp other = problem(seed + 1000);
         return pair_of(problem(seed), testing::with_rewards(*other, [&](State s, Action a) {
                          Rng rng(Stream(seed, Purpose::user, s, a));
                          return rng.u32() % 2 == 0 ? 1.0 : -1.0;
                        }));
       }},
      {"another problem",
       [](std::uint64_t seed) { return pair_of(problem(seed), problem(seed + 1000)); }},
      {"-10 dB simplex",
       [](std::uint64_t seed) { return degraded(seed, -10, Projection::simplex); }},
      {"-10 dB bisection",
       [](std::uint64_t seed) { return degraded(seed, -10, Projection::bisection); }},
      {"-3 dB", [](std::uint64_t seed) { return degraded(seed, -3, Projection::simplex); }},
      {"+3 dB", [](std::uint64_t seed) { return degraded(seed, 3, Projection::simplex); }},
      {"equal dynamics, noisy reward",
       [](std::uint64_t seed) {
         const Mdp high = problem(seed);
         return pair_of(high,
                        testing::with_rewards_of(*high, *degrade(*high, {.snr_db = -3}, seed).mdp));
       }},
      {"unequal dynamics, equal reward",
       [](std::uint64_t seed) {
         const Mdp high = problem(seed);
         return pair_of(high, testing::with_rewards_of(*problem(seed + 1000), *high));
       }},
      {"coarse grid (docking)",
       [](std::uint64_t seed) { return make_docking_pair({}, seed, make_docking({}, seed)); }},
  };
  return kCases;
}

struct Tally {
  int answered = 0, wrong = 0, covered = 0, all = 0;
};

constexpr std::uint32_t kPilots[] = {50, 200, 2000};
constexpr double kNoise = 0.02;  // of the truth

void judge(const Diagnosis& d, double truth, Tally& tally) {
  const bool either = std::abs(truth) <= kNoise;
  ++tally.all;
  tally.answered += d.advice != Advice::cannot_tell ? 1 : 0;
  if (d.advice == Advice::use && truth > 0 && !either) ++tally.wrong;
  if (d.advice == Advice::drop && truth < 0 && !either) ++tally.wrong;
  tally.covered += d.change.low - kNoise <= truth && truth <= d.change.high + kNoise ? 1 : 0;
}

using Tallies = std::array<Tally, std::size(kPilots)>;

Tallies run_case(const Case& c) {
  std::vector<Tallies> found(kSeeds);
  std::vector<double> truth(kSeeds);
  parallel_for(kSeeds, 0, [&](std::size_t seed) {
    const Fidelities pair = c.make(300 + seed);
    truth[seed] = testing::realised_change(
        pair, {.returns = kPlannedReturns, .gamma = kGamma, .trainings = 20});
    const QTable q(pair.high().num_states(), pair.num_actions());  // the uniform policy
    for (std::size_t i = 0; i < std::size(kPilots); ++i) {
      const Pilot pilot = run_pilot(
          pair, q, {.episodes = kPilots[i], .low_rollouts = 5, .gamma = kGamma, .seed = seed},
          [] { return true; });
      judge(diagnose(pair, pilot, {.returns = kPlannedReturns}), truth[seed], found[seed][i]);
    }
  });
  Tallies sum;
  Moments mean;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    mean.add(truth[seed]);
    for (std::size_t i = 0; i < std::size(kPilots); ++i) {
      sum[i].answered += found[seed][i].answered;
      sum[i].wrong += found[seed][i].wrong;
      sum[i].covered += found[seed][i].covered;
      sum[i].all += found[seed][i].all;
    }
  }
  std::printf("%-38s truth %+6.1f %%", c.name.c_str(), 100 * mean.mean());
  for (const Tally& t : sum)
    std::printf("   answered %2d wrong %d covered %2d", t.answered, t.wrong, t.covered);
  std::printf("\n");
  std::fflush(stdout);
  return sum;
}

void run_cases(const std::vector<Case>& kinds) {
  Tallies sum;
  for (const Case& c : kinds) {
    const Tallies found = run_case(c);
    for (std::size_t i = 0; i < std::size(kPilots); ++i) {
      sum[i].answered += found[i].answered;
      sum[i].wrong += found[i].wrong;
      sum[i].covered += found[i].covered;
      sum[i].all += found[i].all;
    }
  }
  int answered = 0, wrong = 0, covered = 0, all = 0;
  for (std::size_t i = 0; i < std::size(kPilots); ++i) {
    std::printf("pilot of %u: %d of %d answered, %d wrong, %d intervals hold the realised change\n",
                kPilots[i], sum[i].answered, sum[i].all, sum[i].wrong, sum[i].covered);
    answered += sum[i].answered;
    wrong += sum[i].wrong;
    covered += sum[i].covered;
    all += sum[i].all;
  }
  EXPECT_LE(wrong, 0.02 * answered);
  EXPECT_GE(covered, 0.90 * all);
  EXPECT_GE(sum.back().answered, 0.60 * sum.back().all);
}

TEST(DiagnoseSlow, IsRightOnTheKindsItWasDevelopedOn) { run_cases(cases()); }

TEST(DiagnoseSlow, IsRightOnKindsItHasNotSeen) { run_cases(testing::unseen_pair_kinds()); }

}  // namespace
}  // namespace hilo
