#pragma once

#include <span>

#include "hilo/exact/return_moments.hpp"

namespace hilo {

// What the empirical-Bayes control variate changes for a fixed policy, from exact moments: its mean
// squared error over the pairs, less that of plain Monte Carlo, over that of plain Monte Carlo. The
// pooled alpha, mu and tau^2 are those of all pairs together; in practice they are estimates.
// `weights` says how much each pair [s * num_actions + a] counts; n coupled and m free returns
// each. Both fidelities must have a model.
double exact_error_change(const FidelityPair& pair, const PolicyMatrix& policy,
                          const PolicyMatrix& low_policy, double gamma,
                          std::span<const double> weights, double n, double m);

}  // namespace hilo
