// MFMCRL+ against MCRL in control, paired by seed, exact mean reward per step of the greedy policy.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "hilo/agent/mcrl.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/core/parallel.hpp"
#include "hilo/exact/mean_reward.hpp"
#include "support/problems.hpp"
#include "support/train.hpp"

namespace hilo {
namespace {

constexpr std::size_t kSeeds = 36;
constexpr std::uint32_t kEpisodes[] = {1000, 2000, 5000, 10'000};
constexpr double kSnrs[] = {-10, -3, 3};
constexpr double kStudent95 = 2.030;  // 35 degrees of freedom

using Curve = std::array<double, std::size(kEpisodes)>;

Curve learn(Agent& agent, const TabularMdp& mdp, const EpisodeSimulator& high, std::uint64_t seed) {
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

}  // namespace
}  // namespace hilo
