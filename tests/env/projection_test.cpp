#include "hilo/env/projection.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "hilo/core/random.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

std::vector<double> signed_row(std::uint64_t seed, std::size_t n, double noise) {
  Rng rng(Stream(seed, Purpose::user));
  std::vector<double> row(n);
  for (double& x : row) x = 1.0 / static_cast<double>(n) + noise * rng.normal();
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& x : row) x /= sum;
  return row;
}

TEST(Projection, NamesRoundTrip) {
  for (const Projection p : {Projection::simplex, Projection::bisection, Projection::clip})
    EXPECT_EQ(projection_from_name(name_of(p)), p);
  testing::expect_error([] { projection_from_name("sort"); }, Errc::spec,
                        {"'sort'", "simplex, bisection, clip"});
}

TEST(Projection, SimplexMatchesHandComputedCases) {
  std::vector<double> row = {0.5, 0.7, -0.2};  // tau = 0.1
  project(Projection::simplex, row);
  EXPECT_NEAR(row[0], 0.4, 1e-15);
  EXPECT_NEAR(row[1], 0.6, 1e-15);
  EXPECT_EQ(row[2], 0);
  row = {3, -1, -1};
  project(Projection::simplex, row);
  EXPECT_EQ(row, (std::vector<double>{1, 0, 0}));
}

TEST(Projection, ClipMatchesAHandComputedCase) {
  std::vector<double> row = {0.5, 0.75, -0.25};
  project(Projection::clip, row);
  EXPECT_EQ(row, (std::vector<double>{0.4, 0.6, 0}));
}

// The projection p of x is optimal if and only if some tau has p_i = x_i - tau where p_i > 0 and
// x_i <= tau where p_i = 0 (Karush, Kuhn and Tucker).
RC_GTEST_PROP(Projection, SimplexMeetsItsOptimalityConditions, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 300);
  const double noise = *rc::gen::element(0.001, 0.05, 1.0);
  const auto x = signed_row(*rc::gen::arbitrary<std::uint64_t>(), n, noise);
  auto p = x;
  project(Projection::simplex, p);

  RC_ASSERT(std::abs(std::accumulate(p.begin(), p.end(), 0.0) - 1) < 1e-12);
  double scale = 1;
  for (const double v : x) scale = std::max(scale, std::abs(v));
  double tau_low = -std::numeric_limits<double>::infinity();
  double tau_high = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    RC_ASSERT(p[i] >= 0);
    if (p[i] > 0) {
      tau_low = std::max(tau_low, x[i] - p[i]);
      tau_high = std::min(tau_high, x[i] - p[i]);
    }
  }
  RC_ASSERT(tau_low - tau_high < 1e-12 * scale);  // one tau for all positive entries
  for (std::size_t i = 0; i < n; ++i)
    if (p[i] == 0) RC_ASSERT(x[i] <= tau_low + 1e-12 * scale);
}

TEST(Projection, BisectionOfADistributionIsTheDistribution) {
  std::vector<double> row = {0.25, 0.5, 0, 0.125, 0.125};
  const auto before = row;
  project(Projection::bisection, row);
  EXPECT_EQ(row, before);
}

// c = (0.5, 0.25, 1): u < c[1] = 0.25 goes left, where c[0] = 0.5 keeps all of it at 0.
TEST(Projection, BisectionMatchesAHandComputedCase) {
  std::vector<double> row = {0.5, -0.25, 0.75};
  project(Projection::bisection, row);
  EXPECT_EQ(row, (std::vector<double>{0.25, 0, 0.75}));
}

// Ten million simulated searches in a signed row: every frequency within 5 standard errors of the
// computed mass (200 cells: false alarm 1e-4, and the seed is fixed), nothing where it is zero.
TEST(Projection, BisectionEqualsTheSimulatedSearch) {
  constexpr std::size_t n = 200;
  constexpr int draws = 10'000'000;
  const auto row = signed_row(5, n, 0.02);
  ASSERT_GT(std::ranges::count_if(row, [](double x) { return x < 0; }), 50);
  std::vector<double> cumulative(n);
  std::partial_sum(row.begin(), row.end(), cumulative.begin());
  auto mass = row;
  project(Projection::bisection, mass);
  EXPECT_NEAR(std::accumulate(mass.begin(), mass.end(), 0.0), 1, 1e-12);

  Rng rng(Stream(6, Purpose::user));
  std::vector<int> counts(n);
  for (int i = 0; i < draws; ++i) ++counts[bisect(cumulative, rng.uniform())];
  for (std::size_t i = 0; i < n; ++i) {
    const double standard_error = std::sqrt(mass[i] * (1 - mass[i]) / draws);
    EXPECT_NEAR(static_cast<double>(counts[i]) / draws, mass[i], 5 * standard_error) << i;
  }
}

TEST(Projection, RejectsWhatDoesNotSumToOne) {
  std::vector<double> row = {-0.5, -0.5};
  testing::expect_error([&] { project(Projection::clip, row); }, Errc::data, {"sum to one"});
}

TEST(Projection, RejectsWhatIsNotFinite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> row = {0.5, bad};
    testing::expect_error([&] { project(Projection::simplex, row); }, Errc::data, {"finite"});
  }
}

// The public form gives what the random MDP's low fidelity is made by, and leaves its row alone.
TEST(Projected, EqualsProjectInPlace) {
  for (const Projection p : {Projection::simplex, Projection::bisection, Projection::clip})
    for (const double noise : {0.001, 0.05, 1.0}) {
      const std::vector<double> row = signed_row(7, 50, noise);
      std::vector<double> in_place = row;
      project(p, in_place);
      EXPECT_EQ(projected(p, row), in_place) << name_of(p);
      EXPECT_NEAR(std::accumulate(in_place.begin(), in_place.end(), 0.0), 1, 1e-9);
      EXPECT_TRUE(std::ranges::all_of(in_place, [](double x) { return x >= 0; }));
    }
}

// A row that sums to something else would lose or gain mass, by each projection in another way.
TEST(Projected, RejectsWhatIsNoSignedRow) {
  const double nan = std::nan("");
  for (const Projection p : {Projection::simplex, Projection::bisection, Projection::clip}) {
    for (const std::vector<double>& bad :
         {std::vector<double>{0.5, 0.25}, std::vector<double>{2, 2}, std::vector<double>{-1, -1}})
      testing::expect_error([&] { projected(p, bad); }, Errc::data, {"must sum to one"});
    for (const std::vector<double>& bad :
         {std::vector<double>{0.5, nan}, std::vector<double>{1, 1e300 * 1e300}})
      testing::expect_error([&] { projected(p, bad); }, Errc::data, {"row to be projected"});
    testing::expect_error([&] { projected(p, {}); }, Errc::data, {"row to be projected"});
  }
}

}  // namespace
}  // namespace hilo
