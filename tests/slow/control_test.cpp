// MFMCRL+ against MCRL in control, paired by seed, exact mean reward per step of the greedy policy.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "hilo/agent/mcrl.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/core/parallel.hpp"
#include "hilo/env/docking.hpp"
#include "hilo/exact/mean_reward.hpp"
#include "hilo/exact/optimum.hpp"
#include "support/problems.hpp"
#include "support/train.hpp"

namespace hilo {
namespace {

constexpr std::size_t kSeeds = 36;
constexpr std::uint32_t kEpisodes[] = {1000, 2000, 5000, 10'000};
constexpr double kSnrs[] = {-10, -3, 3};
constexpr double kStudent95 = 2.030;  // 35 degrees of freedom

using Curve = std::array<double, std::size(kEpisodes)>;

Curve learn(TabularAgent& agent, const TabularMdp& mdp, const EpisodeSimulator& high,
            std::uint64_t seed) {
  Curve out{};
  std::uint32_t done = 0;
  for (std::size_t i = 0; i < std::size(kEpisodes); ++i) {
    testing::train(agent, high, seed, done, kEpisodes[i]);
    done = kEpisodes[i];
    out[i] = expected_mean_reward(mdp, policy_matrix(agent.greedy()), 10'000);
  }
  return out;
}

TEST(ControlSlow, MfmcrlPlusBeatsMonteCarloAtEveryNoise) {
  const double least[] = {0.010, 0.055, 0.115};  // at 10,000 episodes
  std::vector<std::array<Curve, std::size(kSnrs)>> gains(kSeeds);
  parallel_for(kSeeds, 0, [&](std::size_t seed) {
    const auto mdp = make_random_mdp({}, seed);
    const auto high = make_simulator(mdp);
    Mcrl baseline(200, 8, {});
    const Curve plain = learn(baseline, *mdp, *high, seed);
    for (std::size_t k = 0; k < std::size(kSnrs); ++k) {
      const auto low = degrade(*mdp, {.snr_db = kSnrs[k]}, seed).mdp;
      Mfmcrl agent({high, make_simulator(low)}, mfmcrl_plus(), seed);
      gains[seed][k] = learn(agent, *mdp, *high, seed);
      for (std::size_t i = 0; i < plain.size(); ++i) gains[seed][k][i] -= plain[i];
    }
  });
  for (std::size_t k = 0; k < std::size(kSnrs); ++k)
    for (std::size_t i = 0; i < std::size(kEpisodes); ++i) {
      Moments gain;
      for (const auto& of_seed : gains) gain.add(of_seed[k][i]);
      const double half = kStudent95 * std::sqrt(gain.variance() / kSeeds);
      std::printf("%+3.0f dB %5u episodes: %+.4f [%+.4f, %+.4f]\n", kSnrs[k], kEpisodes[i],
                  gain.mean(), gain.mean() - half, gain.mean() + half);
      if (kSnrs[k] == -10) {
        EXPECT_GT(gain.mean() - half, -0.01);
      }
      if (kEpisodes[i] == 10'000) {
        EXPECT_GE(gain.mean(), least[k]);
      }
    }
}

// Docking, 903 states, exact discounted value: the published way misleads, MFMCRL+ does not.
TEST(ControlSlow, DockingIsMisledByThePublishedWayAlone) {
  Moments published, plus, optimum;
  std::vector<std::array<double, 3>> gains(kSeeds);
  parallel_for(kSeeds, 0, [&](std::size_t seed) {
    const auto high = make_docking({}, seed);
    const Fidelities pair = make_docking_pair({}, seed, high);
    const auto value = [&](TabularAgent& agent) {
      testing::train(agent, *high, seed, 0, 10'000);
      return evaluate_from_start(*high->model(), policy_matrix(agent.greedy()), 0.99, 0).value;
    };
    Mcrl baseline(high->num_states(), 5, {});
    Mfmcrl as_published(pair, {.low_policy = kAsPublished.low_policy, .pool = kAsPublished.pool},
                        seed);
    Mfmcrl better(pair, mfmcrl_plus(), seed);
    const double plain = value(baseline);
    gains[seed] = {value(as_published) - plain, value(better) - plain,
                   find_optimum(*high->model(), 0.99, 0).value};
  });
  for (const auto& gain : gains) {
    published.add(gain[0]);
    plus.add(gain[1]);
    optimum.add(gain[2]);
  }
  const auto half = [](const Moments& m) { return kStudent95 * std::sqrt(m.variance() / kSeeds); };
  std::printf("docking, optimum %.3f: as-published %+.3f +- %.3f, MFMCRL+ %+.3f +- %.3f\n",
              optimum.mean(), published.mean(), half(published), plus.mean(), half(plus));
  EXPECT_LT(published.mean() + half(published), 0);
  EXPECT_GT(plus.mean() - half(plus), -0.01 * optimum.mean());
}

}  // namespace
}  // namespace hilo
