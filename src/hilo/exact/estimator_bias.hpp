#pragma once

#include <vector>

#include "hilo/exact/return_moments.hpp"

namespace hilo {

// What the paper's estimator converges to for a fixed policy, pair by pair [s * num_actions + a].
// The paired low-fidelity returns run along the high-fidelity path, so their mean is Q under
// (P_hi, R_lo), while the population mean is Q under (P_lo, R_lo). Where these differ, the
// correction adds alpha times the difference, which no number of samples removes.
struct EstimatorBias {
  std::vector<double> q_high;   // the truth
  std::vector<double> sd_high;  // standard deviation of the high-fidelity return
  std::vector<double> alpha;    // cov / var(lo)
  std::vector<double> rho;
  std::vector<double> q_low_on_path;  // E[G_lo] along the high-fidelity path
  std::vector<double> q_low;          // E[G_lo] in the low fidelity
  std::vector<double> bias;           // alpha (q_low - q_low_on_path)

  // The n beyond which plain Monte Carlo has the smaller mean squared error over these pairs:
  //   sum sigma^2 / n = sum ((1 - rho^2) sigma^2 / n + bias^2).   Infinite without bias.
  double break_even(const std::vector<std::size_t>& pairs) const;
};

// Both fidelities must have a model. `low_policy` is the policy in the low fidelity.
EstimatorBias exact_bias(const Fidelities& pair, const PolicyMatrix& policy,
                         const PolicyMatrix& low_policy, double gamma);

}  // namespace hilo
