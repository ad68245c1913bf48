#pragma once

#include <span>

#include "hilo/core/summary.hpp"

namespace hilo {

// A 95 % interval for a mean of few values that may be skewed, such as returns: the union of
// Student's interval and that of Hall's cubic transformation.
//
// For skewed values the statistic t = (mean - mu) / standard error is skewed, too, and Student's
// interval holds mu too rarely. With k the skewness of the mean itself, g / sqrt(n) for n values
// of sample skewness g = n m_3 / ((n - 1)(n - 2) s^3),
//
//   T(t) = t + k t^2 / 3 + k^2 t^3 / 27 + k / 6
//
// is nearly symmetric (Hall, "On the removal of skewness by transformation", JRSS B 54, 1992). It
// is a cube, 1 + k (T - k / 6) = (1 + k t / 3)^3, and so is easily inverted at the quantiles of
// Student's distribution. docs/statistics.md has its coverage, measured.
//
// No interval from n values knows of outcomes that none of them showed.
struct MeanInterval {
  Summary summary;  // whose low and high are this interval's
  double skewness = 0;
};

MeanInterval mean_interval(std::span<const double> values);

// The same for any estimate that is nearly a mean: its standard error, its skewness k, and the
// quantile of Student's distribution for its level and degrees of freedom.
struct Bounds {
  double low = 0, high = 0;
};
Bounds skewed_bounds(double estimate, double standard_error, double skewness, double quantile);

// The sample skewness g; 0 for fewer than three values or equal ones.
double sample_skewness(std::span<const double> values);

}  // namespace hilo
