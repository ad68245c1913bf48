#include "hilo/env/degraded_twin.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/core/moments.hpp"
#include "hilo/core/parallel.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

constexpr std::size_t kSeeds = 36;

// Reports for 36 seeds of the 200 x 8 problem.
std::vector<DegradationReport> reports(double snr_db) {
  std::vector<DegradationReport> out(kSeeds);
  parallel_for(kSeeds, 0, [&](std::size_t seed) {
    const auto high = make_random_mdp({}, seed);
    out[seed] =
        degrade(*high, {.snr_db = snr_db, .projection = Projection::bisection}, seed).report;
  });
  return out;
}

// Whether the mean over our seeds equals a published mean ± sd over 36 seeds, within 3.5 standard
// errors of the difference.
void expect_published(const std::vector<DegradationReport>& reports,
                      double DegradationReport::*field, double mean, double sd) {
  Moments ours;
  for (const DegradationReport& r : reports) ours.add(r.*field);
  const double standard_error = std::sqrt((ours.variance() + sd * sd) / kSeeds);
  EXPECT_NEAR(ours.mean(), mean, 3.5 * standard_error) << "standard error " << standard_error;
}

TEST(DegradedTwin, MatchesThePublishedFiguresAt3dB) {
  const auto r = reports(3);
  expect_published(r, &DegradationReport::mean_abs_reward_difference, 0.230, 0.006);
  expect_published(r, &DegradationReport::mean_abs_transition_difference_signed, 0.0091, 0.0002);
}

TEST(DegradedTwin, MatchesThePublishedFiguresAtMinus10dB) {
  auto r = reports(-10);
  expect_published(r, &DegradationReport::mean_abs_reward_difference, 1.029, 0.024);

  // The mean of the transition figure does not exist, because a row sum can be near zero; the
  // median over seeds does.
  std::ranges::sort(r, {}, &DegradationReport::mean_abs_transition_difference_signed);
  const double median =
      (r[17].mean_abs_transition_difference_signed + r[18].mean_abs_transition_difference_signed) /
      2;
  EXPECT_NEAR(median, 0.158, 0.01);
  for (const DegradationReport& report : r) EXPECT_NEAR(report.negative_share, 0.4, 0.1);
}

TEST(DegradedTwin, RealisesTheSnrItWasAskedFor) {
  const auto high = make_random_mdp({}, 2);
  for (const double snr_db : {-10.0, -3.0, 3.0}) {
    const auto report = degrade(*high, {.snr_db = snr_db}, 2).report;
    // dB of a mean of n squared normals: standard error 4.34 sqrt(2/n), n = 318,400 and 1592.
    EXPECT_NEAR(report.transition_snr_db, snr_db, 5 * 0.0109);
    EXPECT_NEAR(report.reward_snr_db, snr_db, 5 * 0.154);
  }
}

TEST(DegradedTwin, NoisePatternIsTheSameForEverySnrAndProjection) {
  const auto high = testing::small_mdp(5);
  const auto reward_noise = [&](double snr_db, Projection projection) {
    const auto twin = degrade(*high, {.snr_db = snr_db, .projection = projection}, 5);
    std::vector<double> noise;
    for (State s = 0; s + 1 < high->num_states(); ++s)
      noise.push_back((twin.mdp->expected_reward(s, 1) - high->expected_reward(s, 1)) /
                      twin.report.reward_sigma);
    return noise;
  };
  const auto base = reward_noise(-3, Projection::simplex);
  const auto other = reward_noise(10, Projection::clip);
  for (std::size_t i = 0; i < base.size(); ++i) EXPECT_NEAR(base[i], other[i], 1e-12);
}

TEST(DegradedTwin, KeepsTerminalStatesAndTheStart) {
  const auto high = testing::small_mdp(5);
  for (const Projection p : {Projection::simplex, Projection::bisection, Projection::clip}) {
    const auto low = degrade(*high, {.snr_db = -3, .projection = p}, 5).mdp;
    EXPECT_TRUE(low->is_terminal(11));
    EXPECT_EQ(low->expected_reward(11, 0), 0);
    EXPECT_EQ(low->start_distribution().size(), 4U);
  }
}

TEST(DegradedTwin, HighSnrLeavesTheProblemAlmostAsItIs) {
  const auto high = testing::small_mdp(5);
  const auto report = degrade(*high, {.snr_db = 90}, 5).report;
  EXPECT_LT(report.mean_abs_transition_difference, 1e-4);
  EXPECT_LT(report.mean_abs_reward_difference, 1e-4);
}

TEST(DegradedTwin, RejectsBadInput) {
  const auto high = testing::small_mdp(5);
  for (const double bad : {std::nan(""), 101.0, -101.0})
    testing::expect_error([&] { degrade(*high, {.snr_db = bad}, 1); }, Errc::spec,
                          {"snr_db is", "[-100, 100]"});
  const State terminal = 1;
  TabularBuilder builder(2, 1, {&terminal, 1});
  const Outcome row[] = {{0, 0.5, 1}, {1, 0.5, 2}};
  builder.add_row(row);
  builder.add_absorbing_row();
  const StartProbability start[] = {{0, 1}};
  const auto by_next = builder.build(start);
  testing::expect_error([&] { degrade(*by_next, {}, 1); }, Errc::data, {"depend on the successor"});
}

}  // namespace
}  // namespace hilo
