#include "hilo/core/student.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/core/portable_math.hpp"

namespace hilo {
namespace {

constexpr double kManyDegrees = 1e8;  // from here on the distribution is normal for all we know

// The continued fraction of the incomplete beta function I_x(a, b) (Abramowitz and Stegun 26.5.8),
// evaluated from the front by Lentz's method; converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double out = d;
  for (int k = 1; k < 10'000; ++k) {
    const double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    out *= d * c;
    const double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    out *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return out;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double density(double t, double nu) {
  const double log_front =
      std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2) - 0.5 * std::log(nu * 3.14159265358979323846);
  return std::exp(log_front - (nu + 1) / 2 * std::log1p(t * t / nu));
}

}  // namespace

double student_t_cdf(double t, double nu) {
  const double tail = 0.5 * incomplete_beta(nu / 2, 0.5, nu / (nu + t * t));
  return t > 0 ? 1 - tail : tail;
}

double student_t_quantile(double p, double nu) {
  if (nu >= kManyDegrees) return normal_quantile(p);
  if (p == 0.5) return 0;
  if (p < 0.5) return -student_t_quantile(1 - p, nu);
  // Newton's method from below: the distribution function is concave there, so that it cannot
  // overshoot. A bracket keeps it safe all the same.
  double low = 0, high = 1;
  while (student_t_cdf(high, nu) < p && high < 1e300) high *= 2;
  double t = std::clamp(normal_quantile(p), low, high);
  for (int k = 0; k < 200; ++k) {
    const double error = student_t_cdf(t, nu) - p;
    (error < 0 ? low : high) = t;
    double next = t - error / density(t, nu);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - t) <= 1e-12 * std::max(1.0, std::abs(t))) return next;
    t = next;
  }
  return t;
}

}  // namespace hilo
