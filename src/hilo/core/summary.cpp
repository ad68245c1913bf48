#include "hilo/core/summary.hpp"

#include <cmath>
#include <iterator>

namespace hilo {

double student_t_975(std::uint64_t degrees_of_freedom) {
  constexpr double kFew[] = {0, 12.70620, 4.302653, 3.182446, 2.776445, 2.570582};
  if (degrees_of_freedom < std::size(kFew)) return kFew[degrees_of_freedom];
  // The series of the quantile in 1 / nu (Abramowitz and Stegun 26.7.5); z is the normal quantile.
  const double z = 1.959963984540054;
  const double nu = static_cast<double>(degrees_of_freedom);
  const double z2 = z * z;
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + (g1 + (g2 + (g3 + g4 / nu) / nu) / nu) / nu;
}

Summary summarise(const Moments& values) {
  Summary summary{
      .n = values.count(), .mean = values.mean(), .low = values.mean(), .high = values.mean()};
  if (summary.n < 2) return summary;
  summary.sd = std::sqrt(values.variance());
  summary.standard_error = summary.sd / std::sqrt(static_cast<double>(summary.n));
  const double half = student_t_975(summary.n - 1) * summary.standard_error;
  summary.low -= half;
  summary.high += half;
  return summary;
}

Summary summarise(std::span<const double> values) {
  Moments moments;
  for (const double value : values) moments.add(value);
  return summarise(moments);
}

}  // namespace hilo
