#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hilo/estimator/mean_interval.hpp"
#include "hilo/estimator/paired_sample.hpp"

namespace hilo {

// The mean of an expensive simulator, sharpened by cheap ones whose own means are not known either:
//
//   value = (1/n) sum_j y_j,    y_j = h_j + beta_j' (mu_j - l_j)
//
// h_j and l_j are the paired returns of episode j. mu_j is the best linear unbiased estimate of the
// means of the cheap simulators from their free returns alone (mlblue.hpp), V its covariance, S the
// covariance of the cheap returns, c their covariance with h; then the best coefficient is
//
//   beta = (S + n V)^-1 c,    for one cheap simulator  m / (n + m) cov(h, l) / var(l).
//
// beta_j and the weights in mu_j come from all paired returns but the j-th, so that they are
// independent of l_j and of the free returns: the estimate is exactly unbiased for a fixed n and m,
// whatever the simulators are. docs/math.md has its variance.
struct ControlledMean {
  double value = 0;
  double variance = 0;  // estimated, of the value
  double degrees_of_freedom = 0;
  double skewness = 0;                    // of the value, not of the returns: it falls with n
  double skewness_of_y = 0;               // of single corrected returns
  std::vector<double> coefficients = {};  // means of beta_j
};

// At least so many paired returns are needed for coefficients that are worth using.
inline std::size_t least_pairs(std::size_t num_cheap) { return num_cheap + 5; }

// Cheap simulators without free returns, or with constant ones, get the coefficient 0. With fewer
// than least_pairs returns, or without any cheap simulator, it is the plain mean. Whether the cheap
// simulators are worth using is not decided here: a choice by the same returns would bias it.
ControlledMean controlled_mean(const PairedSample& given);
ControlledMean plain_mean(std::span<const double> values);

// The interval of level 1 - alpha.
Bounds interval_of(const ControlledMean& mean, double alpha);

// The variance of the estimate with the best coefficients for true covariances: for n paired
// returns, all cheap simulators among them, and free[l] free returns of cheap simulator l, nested.
double controlled_variance(const Covariances& c, double n, std::span<const double> free);

}  // namespace hilo
