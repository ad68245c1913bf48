#include "hilo/core/portable_math.hpp"

#include <gtest/gtest.h>

#include <cmath>

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
