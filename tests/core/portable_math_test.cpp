#include "hilo/core/portable_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hilo/core/bulk_math.hpp"
#include "hilo/core/detail/plain_number.hpp"

namespace hilo {
namespace {

TEST(PortableMath, LogAndExpAgreeWithLibm) {
  for (double x = 1e-12; x < 1e6; x *= 1.37)
    EXPECT_NEAR(portable_log(x), std::log(x), 4e-16 * (1 + std::abs(std::log(x)))) << x;
  for (double x = -50; x < 50; x += 0.377)
    EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 1e-15 * std::max(1.0, std::abs(x))) << x;
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_log(1), 0);
}

// Against long double. Small and large arguments, the borders of the quadrants, and both signs.
TEST(PortableMath, SineCosineAndTanhAreAccurate) {
  double worst = 0, worst_tanh = 0;
  for (double x = 1e-9; x < 0x1p20; x *= 1.0003)
    for (const double signed_x : {x, -x}) {
      const auto exact = static_cast<long double>(signed_x);
      worst =
          std::max(worst, std::abs(static_cast<double>(portable_sin(signed_x) - std::sin(exact))));
      worst =
          std::max(worst, std::abs(static_cast<double>(portable_cos(signed_x) - std::cos(exact))));
      worst_tanh =
          std::max(worst_tanh,
                   std::abs(static_cast<double>(portable_tanh(signed_x) / std::tanh(exact) - 1)));
    }
  EXPECT_LT(worst, 2e-16);
  EXPECT_LT(worst_tanh, 1e-15);
  for (int k = -20; k <= 20; ++k)
    EXPECT_NEAR(portable_sin(k * 1.5707963267948966),
                k % 2 == 0             ? 0
                : (k % 4 + 4) % 4 == 1 ? 1
                                       : -1,
                1e-14);
  EXPECT_EQ(portable_sin(0), 0);
  EXPECT_EQ(portable_cos(0), 1);
  EXPECT_EQ(portable_tanh(0), 0);
  EXPECT_EQ(portable_tanh(1e9), 1);
  EXPECT_EQ(portable_sin(1e300), portable_sin(0x1p20));
}

TEST(PortableMath, TheHazardRateAgreesWithLongDouble) {
  double worst = 0;
  for (double z = -30; z < 30; z += 0.0137) {
    const auto x = static_cast<long double>(z);
    const long double density = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0L));
    const long double more = std::erfc(x / std::sqrt(2.0L)) / 2;
    worst = std::max(worst, std::abs(static_cast<double>(normal_hazard(z) / (density / more) - 1)));
  }
  EXPECT_LT(worst, 1e-13);
  EXPECT_NEAR(normal_hazard(0), 2 / std::sqrt(2 * std::acos(-1.0)), 1e-15);
  EXPECT_NEAR(normal_hazard(1e8), 1e8, 1e-6);
  EXPECT_NEAR(normal_hazard(-1e300), 0, 1e-290);
}

TEST(PortableMath, QuickSineAndCosineAreAccurateEnoughForFeatures) {
  double worst = 0;
  for (double x = 1e-9; x < 0x1p20; x *= 1.0003)
    for (const double signed_x : {x, -x}) {
      const auto exact = static_cast<long double>(signed_x);
      const plain::SineCosine quick = plain::quick_sine_cosine(signed_x);
      worst = std::max({worst, std::abs(static_cast<double>(quick.sine - std::sin(exact))),
                        std::abs(static_cast<double>(quick.cosine - std::cos(exact)))});
    }
  EXPECT_LT(worst, 1e-11);
}

TEST(BulkMath, GivesTheBitsOfSingleNumbersOnEveryPath) {
  std::vector<double> x;
  for (double value = 1e-5; value < 2e6; value *= 1.07) {
    x.push_back(value);
    x.push_back(-value);
  }
  x.push_back(0);
  for (const std::size_t count : {x.size(), std::size_t{1}, std::size_t{7}, std::size_t{0}}) {
    const std::span<const double> some(x.data(), count);
    std::vector<double> sine(count), cosine(count), tangent(count), power(count), first;
    for (const SimdPath path : simd_paths()) {
      bulk_sine_cosine(some, sine, cosine, path);
      bulk_tanh(some, tangent, path);
      bulk_exponential(some, power, path);
      if (first.empty()) first = power;
      EXPECT_EQ(power, first) << name_of(path);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(sine[i], portable_sin(x[i])) << x[i] << name_of(path);
        EXPECT_EQ(cosine[i], portable_cos(x[i])) << x[i];
        EXPECT_EQ(tangent[i], portable_tanh(x[i])) << x[i];
        if (std::abs(x[i]) < 700) {
          EXPECT_NEAR(power[i] / static_cast<double>(std::exp(static_cast<long double>(x[i]))), 1,
                      5e-16)
              << x[i];
        }
      }
    }
  }
}

// Phi(normal_quantile(u)) = u, with Phi from libm's erfc, over the centre and both kinds of tail.
TEST(PortableMath, NormalQuantileInvertsTheDistributionFunction) {
  for (double u = 1e-13; u < 0.5; u *= 1.21) {
    const double z = normal_quantile(u);
    EXPECT_NEAR(0.5 * std::erfc(-z / std::sqrt(2.0)) / u, 1, 1e-13) << u;
    EXPECT_NEAR(normal_quantile(1 - u), -z, 2e-16 / u + 1e-14) << u;  // 1 - u is rounded
  }
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);  // any table
}

// Bits, not digits: these must be the same on every machine and compiler.
TEST(PortableMath, GivesTheSameBitsEverywhere) {
  EXPECT_EQ(normal_quantile(0.3), -0x1.0c7e39582c5fap-1);
  EXPECT_EQ(normal_quantile(0.001), -0x1.8b8cbb720447p+1);
  EXPECT_EQ(portable_exp(-0.690775527898213705), 0x1.009b9cf334252p-1);
}

}  // namespace
}  // namespace hilo
