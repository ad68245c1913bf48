#pragma once

#include "hilo/estimator/pooled_estimator.hpp"

namespace hilo {

// The empirical-Bayes control variate, the estimator behind the label MFMCRL+:
//
//   Q = mean_hi + k (d - mu u),   k = c / (v + tau^2 u^2),
//   c = alpha s_l^2 / n,   v = s_l^2 / n + s_L^2 / m,   d = mean free - mean coupled
//
// The bias b = Q_lo - E[coupled return] of a pair, in its unit u, is modelled as a draw from a
// distribution with mean mu and variance tau^2, both fitted over all pairs (pooled_evidence.hpp).
// mu is shrunk to 0 unless the evidence for an offset is clear. Then Q is the best linear estimate
// of the value given mean_hi and d, and its squared error is
//
//   s_h^2 / n - c^2 / (v + tau^2 u^2) + k^2 u^2 Var[mu].
//
// mu = tau = 0 gives the paper's estimator with its finite-m factor. As n grows with tau > 0, k
// goes to 0 and Q to plain Monte Carlo, so a biased low fidelity cannot do harm for long. It
// assumes that the biases of pairs are exchangeable and, unless EstimatorOptions::alpha says
// otherwise, that all pairs have one alpha.
class EmpiricalBayesEstimator final : public PooledEstimator {
 public:
  EmpiricalBayesEstimator(const EstimatorOptions& options, std::size_t num_pairs)
      : PooledEstimator(options, num_pairs) {}
  std::unique_ptr<Estimator> clone() const override {
    return std::make_unique<EmpiricalBayesEstimator>(*this);
  }

 private:
  Gain gain_of(const SteadyMoments& x, double alpha) const override {
    const double unit = pool().unit_square(x);
    const double spread = pool().bias_variance() * unit;
    return {.k = alpha * x.var_low / x.n / (x.noise() + spread),
            .offset = pool().bias_offset() * std::sqrt(unit),
            .bias_square = spread + pool().offset_variance() * unit};
  }
};

}  // namespace hilo
