#include "hilo/core/portable_math.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "hilo/core/detail/plain_number.hpp"
#include "hilo/core/normal_quantile.hpp"

namespace hilo {
namespace {

using Polynomial = NormalPolynomial;

// Horner's rule, spelled out so that the order of operations is fixed.
double evaluate(const Polynomial& c, double x) {
  double sum = c[7];
  for (std::size_t i = 7; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// AS 241: one pair of polynomials for the tails and one for the far tails.
constexpr Polynomial kTailTop = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                 5.76949722146069140550e0,  3.64784832476320460504e0,
                                 1.27045825245236838258e0,  2.41780725177450611770e-1,
                                 2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr Polynomial kTailBottom = {1.0,
                                    2.05319162663775882187e0,
                                    1.67638483018380384940e0,
                                    6.89767334985100004550e-1,
                                    1.48103976427480074590e-1,
                                    1.51986665636164571966e-2,
                                    5.47593808499534494600e-4,
                                    1.05075007164441684324e-9};
constexpr Polynomial kFarTop = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr Polynomial kFarBottom = {1.0,
                                   5.99832206555887937690e-1,
                                   1.36929880922735805310e-1,
                                   1.48753612908506148525e-2,
                                   7.86869131145613259100e-4,
                                   1.84631831751005468180e-5,
                                   1.42151175831644588870e-7,
                                   2.04426310338993978564e-15};

constexpr double kLog2 = 0.693147180559945309417232;

}  // namespace

double portable_log(double x) {
  constexpr double kSqrtHalf = 0.707106781186547524400844;

  // x = mantissa * 2^exponent with mantissa in [sqrt(1/2), sqrt(2)).
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<int>(bits >> 52) - 1022;
  auto mantissa = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3fe0000000000000ULL);
  if (mantissa < kSqrtHalf) {
    mantissa *= 2;
    --exponent;
  }

  // log(m) = 2 artanh(f), f = (m - 1) / (m + 1), |f| < 0.172: f^23 / 23 is below 1e-18.
  const double f = (mantissa - 1) / (mantissa + 1);
  const double f2 = f * f;
  double series = 0;
  for (int k = 21; k >= 1; k -= 2) series = series * f2 + 1.0 / k;
  return exponent * kLog2 + 2 * f * series;
}

double portable_exp(double x) {
  // x = k log 2 + r with |r| <= log(2) / 2, where the remainder of the Taylor series after 15 terms
  // is below 1e-17.
  const double k = std::nearbyint(x / kLog2);
  const double r = x - k * kLog2;
  double series = 1;
  for (int n = 15; n >= 1; --n) series = 1 + series * r / n;
  return std::ldexp(series, static_cast<int>(k));
}

double portable_sin(double x) { return plain::sine_cosine(x).sine; }
double portable_cos(double x) { return plain::sine_cosine(x).cosine; }
double portable_tanh(double x) { return plain::hyperbolic_tangent(x); }

double normal_quantile(double u) {
  const double q = u - 0.5;
  if (-kNormalCentre <= q && q <= kNormalCentre) {
    const double r = kNormalCentreSquare - q * q;
    return q * evaluate(kNormalCentreTop, r) / evaluate(kNormalCentreBottom, r);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? u : 1 - u));
  const double x = r <= 5 ? evaluate(kTailTop, r - 1.6) / evaluate(kTailBottom, r - 1.6)
                          : evaluate(kFarTop, r - 5) / evaluate(kFarBottom, r - 5);
  return q < 0 ? -x : x;
}

double normal_hazard(double z) {
  constexpr double kSqrtTwoPi = 2.506628274631000502415765;
  if (z > 2) {
    // 1 / h = 1/(z + 1/(z + 2/(z + 3/(z + ...)))), a continued fraction of Laplace, from its end.
    constexpr int kTerms = 200;
    double rest = z;
    for (int k = kTerms; k > 0; --k) rest = z + k / rest;
    return rest;
  }
  const double x = std::max(z, -37.0);
  const double density = portable_exp(-0.5 * x * x) / kSqrtTwoPi;
  if (x < -9) return density;  // the probability of more is 1 to the last bit
  // P(0 < Z < |x|) = density * (|x| + |x|^3/3 + |x|^5/(3 5) + ...), all terms positive.
  const double size = std::abs(x);
  double term = size, sum = size;
  for (int k = 3; term > 1e-18 * sum; k += 2) sum += term *= x * x / k;
  const double inner = density * sum;
  return density / (x < 0 ? 0.5 + inner : 0.5 - inner);
}

}  // namespace hilo
