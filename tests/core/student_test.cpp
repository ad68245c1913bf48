#include "hilo/core/student.hpp"

#include <gtest/gtest.h>

#include "hilo/core/portable_math.hpp"
#include "hilo/core/summary.hpp"

namespace hilo {
namespace {

// Values of tables that are in every textbook, to their digits.
TEST(Student, HasTheQuantilesOfTheTables) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.7062047, 1e-7);
  EXPECT_NEAR(student_t_quantile(0.975, 5), 2.5705818, 1e-7);
  EXPECT_NEAR(student_t_quantile(0.995, 30), 2.7499957, 1e-7);
  EXPECT_NEAR(student_t_quantile(0.9, 2), 1.8856181, 1e-7);
  EXPECT_NEAR(student_t_quantile(0.025, 10), -2.2281389, 1e-7);
  EXPECT_NEAR(student_t_quantile(0.975, 1e9), normal_quantile(0.975), 1e-12);
  EXPECT_EQ(student_t_quantile(0.5, 3), 0);
}

TEST(Student, QuantilesInvertTheDistribution) {
  for (const double nu : {0.7, 1.0, 2.5, 7.0, 40.0, 1000.0, 1e6})
    for (const double p : {1e-5, 0.01, 0.3, 0.6, 0.975, 0.9999})
      EXPECT_NEAR(student_t_cdf(student_t_quantile(p, nu), nu), p, 1e-10) << nu << " " << p;
  for (std::uint64_t nu = 1; nu < 200; ++nu)
    EXPECT_NEAR(student_t_quantile(0.975, static_cast<double>(nu)) / student_t_975(nu), 1, 1e-4)
        << nu;
}

}  // namespace
}  // namespace hilo
