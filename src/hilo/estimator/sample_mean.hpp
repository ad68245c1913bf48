#pragma once

#include <cmath>
#include <limits>

#include "hilo/core/moments.hpp"

namespace hilo {

struct MeanEstimate {
  double value;
  double standard_error;  // infinite (unknown) with fewer than two values
};

// Plain Monte Carlo: Q_hat = (1/n) sum G_i, Var = sigma^2 / n  [eq. 5, 6].
inline MeanEstimate sample_mean(const Moments& returns) {
  if (returns.count() < 2) return {returns.mean(), std::numeric_limits<double>::infinity()};
  return {returns.mean(), std::sqrt(returns.variance() / returns.effective_count())};
}

}  // namespace hilo
