#include "hilo/core/alias.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "hilo/core/random.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

template <class Index>
std::vector<AliasEntry<Index>> alias_row(const std::vector<double>& weights) {
  std::vector<Index> outcomes(weights.size());
  std::iota(outcomes.begin(), outcomes.end(), Index{0});
  std::vector<AliasEntry<Index>> row(weights.size());
  AliasBuilder().build<Index>(weights, outcomes, row);
  return row;
}

template <class Index>
double worst_error(const std::vector<double>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto row = alias_row<Index>(weights);
  const auto mass = alias_distribution<Index>(row);
  double worst = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    worst = std::max(worst, std::abs(mass[i] - weights[i] / total));
  return worst;
}

TEST(Alias, EntriesAreCompact) {
  EXPECT_EQ(sizeof(AliasEntry<std::uint16_t>), 8U);
  EXPECT_EQ(sizeof(AliasEntry<std::uint32_t>), 12U);
}

TEST(Alias, SingleOutcomeIsCertain) {
  const auto row = alias_row<std::uint16_t>({0.3});
  for (const std::uint64_t bits : {0ULL, 1ULL << 63, ~0ULL})
    EXPECT_EQ(draw_alias(row.data(), 1, bits), 0);
}

RC_GTEST_PROP(Alias, ImpliedDistributionEqualsTheRow, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 1200);
  Rng rng(Stream(*rc::gen::arbitrary<std::uint64_t>(), Purpose::user));
  const bool skewed = *rc::gen::arbitrary<bool>();
  std::vector<double> weights(n);
  for (double& w : weights) {
    const double u = rng.uniform();
    w = skewed ? u * u * u * u * u * u * u * u + 1e-12 : u;
  }
  RC_ASSERT(worst_error<std::uint16_t>(weights) < 1e-9);
  RC_ASSERT(worst_error<std::uint32_t>(weights) < 1e-9);
}

TEST(Alias, DrawsFollowTheDistribution) {
  constexpr std::uint32_t k = 50;
  constexpr int n = 1'000'000;
  std::vector<double> weights(k);
  Rng rng(Stream(11, Purpose::user));
  for (double& w : weights) w = rng.uniform() + 0.01;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto row = alias_row<std::uint16_t>(weights);
  std::vector<int> counts(k);
  for (int i = 0; i < n; ++i) ++counts.at(draw_alias(row.data(), k, rng.u64()));
  double chi2 = 0;
  for (std::size_t i = 0; i < k; ++i) {
    const double expected = n * weights[i] / total;
    chi2 += std::pow(counts[i] - expected, 2) / expected;
  }
  EXPECT_LT(chi2, 112.0);  // 49 degrees of freedom: false alarm 1e-6, and the seed is fixed
}

TEST(Alias, RejectsBadWeights) {
  using testing::expect_error;
  const auto build = [](std::vector<double> weights) {
    return [weights] { alias_row<std::uint32_t>(weights); };
  };
  expect_error(build({}), Errc::usage, {"at least one outcome"});
  expect_error(build({1, 0}), Errc::data, {"positive, finite"});
  expect_error(build({1, -1}), Errc::data, {"positive, finite"});
  expect_error(build({1, std::nan("")}), Errc::data, {"positive, finite"});
  expect_error(build({1, std::numeric_limits<double>::infinity()}), Errc::data, {"positive"});
}

}  // namespace
}  // namespace hilo
