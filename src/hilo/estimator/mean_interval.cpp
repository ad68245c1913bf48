#include "hilo/estimator/mean_interval.hpp"

#include <algorithm>
#include <cmath>

namespace hilo {
namespace {

constexpr double kSymmetric = 1e-6;  // below this skewness the transformation is the identity

// The W at which the transformation is t.
double inverse(double t, double skewness, double n) {
  if (std::abs(skewness) < kSymmetric) return t;
  return 3 / skewness * (std::cbrt(1 + skewness * (t - skewness / (6 * n))) - 1);
}

}  // namespace

MeanInterval mean_interval(std::span<const double> values) {
  MeanInterval out{.summary = summarise(values)};
  Summary& s = out.summary;
  if (s.n < 3 || !(s.sd > 0)) return out;
  const auto n = static_cast<double>(s.n);
  double cubes = 0;
  for (const double x : values) cubes += std::pow((x - s.mean) / s.sd, 3);
  out.skewness = cubes * n / ((n - 1) * (n - 2));
  const double t = student_t_975(s.n - 1) / std::sqrt(n);
  s.low = std::min(s.low, s.mean - s.sd * inverse(t, out.skewness, n));
  s.high = std::max(s.high, s.mean - s.sd * inverse(-t, out.skewness, n));
  return out;
}

}  // namespace hilo
