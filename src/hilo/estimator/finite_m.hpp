#pragma once

#include "hilo/estimator/pooled_estimator.hpp"

namespace hilo {

// The control variate whose population mean is itself an estimate, from the m free returns only:
//
//   Q = mean_hi + alpha m / (n + m) (mean of the free returns - mean of the coupled ones)
//
// The factor m / (n + m) is optimal if free and coupled low-fidelity returns have the same variance
// (Pasupathy, Schmeiser, Taaffe and Wang 2012, control-variate estimation using estimated control
// means). The estimator assumes, as the paper does, that they have the same mean.
class FiniteMEstimator final : public PooledEstimator {
 public:
  FiniteMEstimator(const EstimatorOptions& options, std::size_t num_pairs)
      : PooledEstimator(options, num_pairs) {}
  std::unique_ptr<Estimator> clone() const override {
    return std::make_unique<FiniteMEstimator>(*this);
  }

 private:
  Gain gain_of(const SteadyMoments& x, double alpha) const override {
    return {.k = alpha * x.m / (x.n + x.m), .bias_square = 0};
  }
};

}  // namespace hilo
