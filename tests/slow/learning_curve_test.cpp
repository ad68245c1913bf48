// Learning curves on the paper's 200 x 8 problem against the published means (36 seeds each side).
#include <cmath>
#include <cstdio>
#include <memory>

#include "hilo/agent/mcrl.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/core/parallel.hpp"
#include "support/problems.hpp"
#include "support/train.hpp"

#include <gtest/gtest.h>

namespace hilo {
namespace {

constexpr std::size_t kSeeds = 36;
constexpr std::uint32_t kCheckpoints[] = {0, 1000, 2000, 5000, 10'000};

struct Published {
  double mean, sd;
};

using Maker = std::function<std::unique_ptr<TabularAgent>(
    const std::shared_ptr<const TabularMdp>& high, std::uint64_t seed)>;

// Our mean within 3.5 standard errors of the difference, both sides' seeds counted. Five checks:
// false alarm 2e-3 per curve, and the seeds are fixed.
void expect_curve(const char* name, const Maker& make, const Published (&published)[5]) {
  double rewards[kSeeds][5];
  parallel_for(kSeeds, 0, [&](std::size_t seed) {
    const auto high = make_random_mdp({}, seed);
    const auto simulator = make_simulator(high);
    const auto agent = make(high, seed);
    std::uint32_t done = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      testing::train(*agent, *simulator, seed, done, kCheckpoints[i]);
      done = kCheckpoints[i];
      rewards[seed][i] = testing::test_reward(*agent, *simulator, seed);
    }
  });
  for (std::size_t i = 0; i < 5; ++i) {
    Moments ours;
    for (const auto& curve : rewards) ours.add(curve[i]);
    const auto [mean, sd] = published[i];
    const double standard_error = std::sqrt((ours.variance() + sd * sd) / kSeeds);
    std::printf("%-24s %6u  ours %.4f  published %.4f  difference %+.2f standard errors\n", name,
                kCheckpoints[i], ours.mean(), mean, (ours.mean() - mean) / standard_error);
    EXPECT_NEAR(ours.mean(), mean, 3.5 * standard_error) << name << " at " << kCheckpoints[i];
  }
}

TEST(LearningCurve, McrlMatchesThePublishedCurve) {
  expect_curve("MCRL",
               [](const auto& high, std::uint64_t) {
                 return std::make_unique<Mcrl>(high->num_states(), high->num_actions(),
                                               McrlOptions{});
               },
               {{.2518, .0149}, {.3991, .0395}, {.4568, .0460}, {.5262, .0341}, {.5741, .0278}});
}

Maker as_published(double snr_db, std::uint32_t m) {
  return [=](const std::shared_ptr<const TabularMdp>& high, std::uint64_t seed) {
    const MfmcrlOptions options = {
        .low_rollouts = m, .low_policy = kAsPublished.low_policy, .pool = kAsPublished.pool};
    return std::make_unique<Mfmcrl>(
        testing::degraded_pair(high, snr_db, kAsPublished.projection, seed), options, seed);
  };
}

TEST(LearningCurve, MfmcrlAsPublishedMatchesThePublishedCurves) {
  expect_curve("as-published m=1 -3 dB", as_published(-3, 1),
               {{.2518, .0149}, {.4215, .0339}, {.4877, .0288}, {.5736, .0252}, {.6162, .0260}});
  expect_curve("as-published m=10 -3 dB", as_published(-3, 10),
               {{.2518, .0149}, {.4246, .0386}, {.5084, .0332}, {.6122, .0343}, {.6633, .0274}});
  expect_curve("as-published m=10 +3 dB", as_published(3, 10),
               {{.2518, .0149}, {.4747, .0395}, {.5795, .0255}, {.6852, .0249}, {.7229, .0243}});
}

}  // namespace
}  // namespace hilo
