#pragma once

#include <span>
#include <vector>

#include "hilo/estimator/paired_sample.hpp"

namespace hilo {

// Multifidelity Monte Carlo (Peherstorfer, Willcox and Gunzburger, SIAM J. Sci. Comput. 38, 2016):
// nested samples, m_0 <= m_1 <= ... <= m_k, of the expensive simulator 0 and of cheap ones, sorted
// by their correlation rho_l with it:
//
//   mu = mean_0(m_0) + sum_l alpha_l (mean_l(m_l) - mean_l(m_{l-1})),   alpha_l = rho_l s_0 / s_l
//   Var[mu] = s_0^2 / m_0 - sum_l (1 / m_{l-1} - 1 / m_l) rho_l^2 s_0^2
//
// The best numbers are m_l = m_0 sqrt(w_l (rho_l^2 - rho_{l+1}^2) / (1 - rho_1^2)), w_l being the
// cost of an expensive sample in cheap ones, where the simulators fulfil
// w_l / w_{l-1} > (rho_{l-1}^2 - rho_l^2) / (rho_l^2 - rho_{l+1}^2).
struct MfmcPlan {
  std::vector<std::size_t> simulators;    // 0 first, then by falling correlation
  std::vector<double> counts = {};        // m_0, m_1, ...
  std::vector<double> coefficients = {};  // alpha_1, ...
  double cost = 0;
  double variance = 0;  // predicted
};

// The best plan over all subsets of the cheap simulators that fulfil the condition; counts are
// whole numbers unless `rounded` is false. Throws Errc::usage as mlblue_allocation does.
MfmcPlan mfmc_plan(const Covariances& c, std::span<const double> costs, double budget,
                   bool rounded = true);

}  // namespace hilo
