#pragma once

#include <span>

#include "hilo/core/summary.hpp"

namespace hilo {

// A 95 % interval for a mean of few values that may be skewed, such as returns: the union of
// Student's interval and that of Hall's cubic transformation.
//
// For skewed values the statistic W = (mean - mu) / s is skewed, too, and Student's interval holds
// mu too rarely. With g the sample skewness (n m_3 / ((n - 1)(n - 2) s^3)),
//
//   T(W) = W + g W^2 / 3 + g^2 W^3 / 27 + g / (6 n)
//
// is nearly symmetric (Hall, "On the removal of skewness by transformation", JRSS B 54, 1992). It
// is a cube, 1 + g (T - g / (6 n)) = (1 + g W / 3)^3, and so is easily inverted at
// T = +- t_975(n - 1) / sqrt(n). docs/statistics.md has its coverage, measured.
//
// No interval from n values knows of outcomes that none of them showed.
struct MeanInterval {
  Summary summary;  // whose low and high are this interval's
  double skewness = 0;
};

MeanInterval mean_interval(std::span<const double> values);

}  // namespace hilo
