#pragma once

#include "hilo/estimator/pooled_estimator.hpp"

namespace hilo {

// A control variate that allows for a bias between its two low-fidelity means:
//
//   Q = mean_hi + k d,   k = c / (v + b^2),   c = alpha s_l^2 / n,   v = s_l^2 / n + s_L^2 / m
//
// with b^2 / u^2 the mean over pairs of (d^2 - v) / u^2, at least 0 (pooled_evidence.hpp). It
// minimises the expected squared error if the biases of the pairs have mean square b^2. c and v
// shrink like 1 / n while b^2 does not, so with many returns it becomes the plain mean. It treats
// an offset that all pairs share as part of the noise; empirical_bayes.hpp removes that offset.
class BiasAwareEstimator final : public PooledEstimator {
 public:
  BiasAwareEstimator(const EstimatorOptions& options, std::size_t num_pairs)
      : PooledEstimator(options, num_pairs) {}
  std::unique_ptr<Estimator> clone() const override {
    return std::make_unique<BiasAwareEstimator>(*this);
  }

 private:
  Gain gain_of(const SteadyMoments& x, double alpha) const override {
    const double b_square = pool().bias_square() * pool().unit_square(x);
    return {.k = alpha * x.var_low / x.n / (x.noise() + b_square), .bias_square = b_square};
  }
};

}  // namespace hilo
