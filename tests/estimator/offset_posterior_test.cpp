#include "hilo/estimator/offset_posterior.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hilo/agent/mfmcrl.hpp"
#include "hilo/estimator/pooled_estimator.hpp"
#include "support/problems.hpp"
#include "support/realised_change.hpp"

namespace hilo {
namespace {

// v = 1, tau = 0, mean = 2: two parts without an offset, weight exp(-2) each, and one of variance 1
// with r = 1/2, weight sqrt(1/2) exp(-1), mean 1, variance 1/2.
TEST(OffsetPosterior, IsTheMixtureByHand) {
  const OffsetPosterior posterior(2, 1, 0);
  const double none = 2 * std::exp(-2), wide = std::sqrt(0.5) * std::exp(-1);
  const double share = wide / (none + wide);
  EXPECT_NEAR(posterior.mean(), share, 1e-12);
  EXPECT_NEAR(posterior.variance(), share * 1.5 - share * share, 1e-12);
}

TEST(OffsetPosterior, DrawsToZeroWithoutEvidenceAndNotAgainstIt) {
  EXPECT_LT(OffsetPosterior(0.05, 0.0025, 0).mean(), 0.2 * 0.05);     // one standard error
  EXPECT_GT(OffsetPosterior(0.5, 0.0025, 0).mean(), 0.99 * 0.5);      // ten
  EXPECT_GT(OffsetPosterior(0.15, 0.0025, 0.02).mean(), 0.7 * 0.15);  // three, and biases differ
  EXPECT_EQ(OffsetPosterior(0.3, 0, 0.1).mean(), 0.3);
  const OffsetPosterior far(1e6, 1e-9, 0);
  EXPECT_NEAR(far.mean(), 1e6 / (1 + 1e-9), 1e-6);
  EXPECT_TRUE(std::isfinite(far.variance()));
}

// With identical simulators the errors of an episode's pairs are one error, and their mean is as
// uncertain as if there were far fewer of them.
TEST(PooledEvidence, WidensTheVarianceOfTheOffsetByEpisode) {
  const auto mdp = testing::small_mdp(1, 40, 4);
  const Fidelities pair(make_simulator(mdp), make_simulator(mdp));
  MfmcrlOptions options = mfmcrl_plus();
  options.pilot_episodes = 10'000;
  Mfmcrl agent(pair, options, 1);
  const QTable uniform(40, 4);
  Episode episode;
  for (std::uint32_t k = 0; k < 500; ++k) {
    pair.high().run_episode(uniform.behaviour(1), {.seed = 1, .episode = k}, {.max_steps = 10'000},
                            episode);
    agent.learn(episode);
  }
  const auto& pool = dynamic_cast<const PooledEstimator&>(agent.estimator()).pool();
  // Episodes have 10 steps on average, long ones more weight; independent pairs would give 1.
  EXPECT_GT(pool.inflation(), 5);
  EXPECT_LT(pool.inflation(), 30);
  EXPECT_LT(std::abs(pool.bias_offset()), 0.05);
}

// -84 to -90 % when an offset was always fitted; the standard error over problems is about 0.5 %.
TEST(EmpiricalBayes, KeepsNoCommonErrorOfIdenticalSimulators) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto mdp = testing::small_mdp(seed, 40, 4);
    sum += testing::realised_change({make_simulator(mdp), make_simulator(mdp)},
                                    {.low_rollouts = 10, .trainings = 2, .first_seed = seed});
  }
  EXPECT_LT(sum / 10, -0.95);
}

// Returns that never varied are not corrected, so that actions that tie go on doing so.
TEST(EmpiricalBayes, LeavesTiesAlone) {
  const auto estimator = make_estimator({.name = "empirical-bayes"}, 4);
  std::vector<CoMoments> paired(4);
  std::vector<Moments> free(4), coupled(4);
  for (int i = 0; i < 12; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      const double low = (i % 3) + static_cast<double>(k);
      paired[k].add(k == 0 ? 0 : low + 0.5 * (i % 2), low);
      coupled[k].add(low);
      free[k].add(low + 1);
      estimator->update(k, {paired[k], free[k], coupled[k]});
      estimator->end_episode();
    }
  EXPECT_EQ(estimator->estimate({paired[0], free[0], coupled[0]}).value, 0);
  EXPECT_NE(estimator->estimate({paired[1], free[1], coupled[1]}).value, paired[1].mean_x());
}

}  // namespace
}  // namespace hilo
