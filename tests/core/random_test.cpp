#include "hilo/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "support/expect_error.hpp"

namespace hilo {
namespace {

// The known-answer vector "243f6a88 85a308d3 13198a2e 03707344" of Random123, which also pins the
// order of the counter's fields.
TEST(Stream, MatchesTheRandom123TestVector) {
  const Stream stream(/*seed=*/0x299f31d0a4093822ULL, static_cast<Purpose>(0x2e),
                      /*episode=*/0x03707344, /*pair=*/0x13198a, /*rollout=*/0x85a308d3);
  const Block expected = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  EXPECT_EQ(stream.block(0x243f6a88), expected);
}

TEST(Stream, EveryFieldOfTheAddressMatters) {
  const Block base = Stream(1, Purpose::user, 2, 3, 4).block(5);
  EXPECT_NE(Stream(9, Purpose::user, 2, 3, 4).block(5), base);
  EXPECT_NE(Stream(1ULL << 32 | 1, Purpose::user, 2, 3, 4).block(5), base);
  EXPECT_NE(Stream(1, Purpose::test, 2, 3, 4).block(5), base);
  EXPECT_NE(Stream(1, Purpose::user, 9, 3, 4).block(5), base);
  EXPECT_NE(Stream(1, Purpose::user, 2, 9, 4).block(5), base);
  EXPECT_NE(Stream(1, Purpose::user, 2, 3, 9).block(5), base);
  EXPECT_NE(Stream(1, Purpose::user, 2, 3, 4).block(9), base);
}

// Sample correlation of two independent uniform sequences: standard error 1/sqrt(n).
double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - 0.5) * (y[i] - 0.5);
  return 12 * sum / static_cast<double>(x.size());
}

TEST(Stream, PurposesAndNeighboursAreUncorrelated) {
  constexpr std::uint32_t n = 100'000;
  const auto draw = [](Stream stream) {
    Rng rng(stream);
    std::vector<double> x(n);
    for (double& u : x) u = rng.uniform();
    return x;
  };
  std::vector<std::vector<double>> streams;
  for (const Purpose p :
       {Purpose::high_episode, Purpose::low_rollout, Purpose::test, Purpose::problem_mask,
        Purpose::problem_weight, Purpose::problem_reward, Purpose::problem_transition_noise,
        Purpose::problem_reward_noise, Purpose::user})
    streams.push_back(draw(Stream(7, p)));
  streams.push_back(draw(Stream(7, Purpose::user, 1)));
  streams.push_back(draw(Stream(7, Purpose::user, 0, 1)));
  streams.push_back(draw(Stream(7, Purpose::user, 0, 0, 1)));
  streams.push_back(draw(Stream(8, Purpose::user)));
  // 78 pairs at 5 standard errors: false alarm 5e-5, and the seed is fixed.
  for (std::size_t i = 0; i < streams.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_LT(std::abs(correlation(streams[i], streams[j])), 5 / std::sqrt(n)) << i << ", " << j;
}

TEST(Rng, UniformHasMeanOneHalfAndVarianceOneTwelfth) {
  constexpr int n = 1'000'000;
  Rng rng(Stream(7, Purpose::user));
  double sum = 0;
  double sum_sq = 0;
  for (int i = 0; i < n; ++i) {
    const double u = rng.uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u - 0.5;
    sum_sq += (u - 0.5) * (u - 0.5);
  }
  // Five standard errors each: false alarm 1e-6, and the seed is fixed.
  EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(sum_sq / n, 1.0 / 12, 5 * std::sqrt(1.0 / 180 / n));
}

TEST(Rng, NormalHasTheMomentsOfANormal) {
  constexpr int n = 1'000'000;
  Rng rng(Stream(7, Purpose::user));
  double m1 = 0;
  double m2 = 0;
  double m4 = 0;
  for (int i = 0; i < n; ++i) {
    const double z = rng.normal();
    m1 += z;
    m2 += z * z;
    m4 += z * z * z * z;
  }
  // Five standard errors each, from Var[z] = 1, Var[z^2] = 2, Var[z^4] = 96.
  EXPECT_NEAR(m1 / n, 0, 5 * std::sqrt(1.0 / n));
  EXPECT_NEAR(m2 / n, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(m4 / n, 3, 5 * std::sqrt(96.0 / n));
}

TEST(Rng, BelowIsUniform) {
  constexpr int n = 1'000'000;
  constexpr std::uint32_t k = 7;
  Rng rng(Stream(7, Purpose::user));
  std::vector<int> counts(k);
  for (int i = 0; i < n; ++i) ++counts.at(rng.below(k));
  double chi2 = 0;
  for (const int c : counts) chi2 += std::pow(c - n / 7.0, 2) / (n / 7.0);
  EXPECT_LT(chi2, 40.5);  // 6 degrees of freedom: false alarm 4e-7
}

TEST(Rng, StepsDoNotOverlapAndAreLimited) {
  const Stream stream(1, Purpose::user);
  std::set<std::uint32_t> first_words;
  for (std::uint32_t step = 0; step < 100; ++step)
    first_words.insert(Rng::of_step(stream, step).u32());
  EXPECT_EQ(first_words.size(), 100U);

  Rng rng = Rng::of_step(stream, 3);
  for (int i = 0; i < 1024; ++i) rng.u32();
  testing::expect_error([&] { rng.u32(); }, Errc::simulator, {"may draw 1024 random words"});
}

// A generator of the standard library: its words are those of u32, none more and none less.
TEST(Rng, IsAStandardGenerator) {
  static_assert(std::uniform_random_bit_generator<Rng>);
  static_assert(std::same_as<Rng::result_type, std::uint32_t>);
  static_assert(Rng::min() == 0 && Rng::max() == 0xffffffffU);
  Rng called = Rng::of_step(Stream(3, Purpose::user), 5);
  Rng asked = called;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(called(), asked.u32());
}

// Mean and variance 4 of 100 000 draws: 5 standard errors, 0.032 and 0.095.
TEST(Rng, FeedsStandardDistributions) {
  constexpr int n = 100'000;
  Rng rng(Stream(4, Purpose::user));
  std::poisson_distribution<int> orders(4.0);
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const int x = orders(rng);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 4, 0.032);
  EXPECT_NEAR(squares / n - sum / n * sum / n, 4, 0.095);

  std::normal_distribution<double> noise(1.0, 2.0);
  double total = 0;
  for (int i = 0; i < n; ++i) total += noise(rng);
  EXPECT_NEAR(total / n, 1, 0.032);
}

// Every place is taken by every number about as often: 10 000 shuffles, 5 standard errors.
TEST(Rng, ShufflesAndSamples) {
  Rng rng(Stream(5, Purpose::user));
  std::vector<int> first(5, 0);
  for (int i = 0; i < 10'000; ++i) {
    std::vector<int> deck(5);
    std::iota(deck.begin(), deck.end(), 0);
    std::shuffle(deck.begin(), deck.end(), rng);
    ++first[static_cast<std::size_t>(deck[0])];
    std::ranges::sort(deck);
    ASSERT_EQ(deck, (std::vector<int>{0, 1, 2, 3, 4}));
  }
  for (const int count : first) EXPECT_NEAR(count, 2000, 200);

  const std::vector<int> all = {1, 2, 3, 4, 5, 6};
  std::vector<int> some;
  std::ranges::sample(all, std::back_inserter(some), 3, rng);
  EXPECT_EQ(std::set<int>(some.begin(), some.end()).size(), 3U);
}

}  // namespace
}  // namespace hilo
