#include "hilo/estimator/mean_interval.hpp"

#include <algorithm>
#include <cmath>

namespace hilo {
namespace {

constexpr double kSymmetric = 1e-6;  // below this skewness the transformation is the identity

// The t at which the transformation is q.
double inverse(double q, double k) {
  if (std::abs(k) < kSymmetric) return q;
  return 3 / k * (std::cbrt(1 + k * (q - k / 6)) - 1);
}

}  // namespace

double sample_skewness(std::span<const double> values) {
  const Summary s = summarise(values);
  if (s.n < 3 || !(s.sd > 0)) return 0;
  const auto n = static_cast<double>(s.n);
  double cubes = 0;
  for (const double x : values) cubes += std::pow((x - s.mean) / s.sd, 3);
  return cubes * n / ((n - 1) * (n - 2));
}

Bounds skewed_bounds(double estimate, double standard_error, double skewness, double quantile) {
  return {.low = estimate - standard_error * std::max(quantile, inverse(quantile, skewness)),
          .high = estimate - standard_error * std::min(-quantile, inverse(-quantile, skewness))};
}

MeanInterval mean_interval(std::span<const double> values) {
  MeanInterval out{.summary = summarise(values)};
  Summary& s = out.summary;
  if (s.n < 3 || !(s.sd > 0)) return out;
  out.skewness = sample_skewness(values);
  const Bounds bounds =
      skewed_bounds(s.mean, s.standard_error, out.skewness / std::sqrt(static_cast<double>(s.n)),
                    student_t_975(s.n - 1));
  s.low = bounds.low;
  s.high = bounds.high;
  return out;
}

}  // namespace hilo
