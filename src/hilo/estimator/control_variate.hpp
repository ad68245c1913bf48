#pragma once

#include <algorithm>
#include <cmath>

#include "hilo/core/moments.hpp"

namespace hilo {

// Estimates the mean of a high-fidelity return (x) with a lower variance, by means of a correlated
// low-fidelity return (y) whose mean mu_lo is known better than from the pairs alone [eq. 7 to 10]:
//
//   Q = mean_hi + alpha (mu_lo - mean_lo),   alpha = cov(hi, lo) / var(lo)
//   Var[Q] / Var[mean_hi] = 1 - rho^2        if alpha and mu_lo were exact and unbiased
//
// docs/math.md gives what remains of this reduction when they are estimates.
struct ControlVariate {
  double value;
  double alpha;           // 0: no correction was made
  double variance_ratio;  // the estimate of 1 - rho^2; 1 without a correction

  // The estimate of rho; 0 without a correction.
  double correlation() const { return std::copysign(std::sqrt(1 - variance_ratio), alpha); }
};

// The corrected mean for a given alpha.
inline double corrected_mean(const CoMoments& pairs, double mu_lo, double alpha) {
  return pairs.mean_x() + alpha * (mu_lo - pairs.mean_y());
}

// Estimates alpha from the same pairs. With fewer than two pairs, or a variance of zero, the result
// is the plain mean.
inline ControlVariate control_variate(const CoMoments& pairs, double mu_lo) {
  const double var_hi = pairs.variance_x();
  const double var_lo = pairs.variance_y();
  if (!(var_hi > 0 && var_lo > 0)) return {pairs.mean_x(), 0, 1};
  const double cov = pairs.covariance();
  const double alpha = cov / var_lo;
  // Rounding could make rho^2 slightly larger than 1.
  return {corrected_mean(pairs, mu_lo, alpha), alpha, std::max(0.0, 1 - cov / var_hi * alpha)};
}

}  // namespace hilo
