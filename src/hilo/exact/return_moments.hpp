#pragma once

#include <vector>

#include "hilo/env/fidelities.hpp"
#include "hilo/exact/evaluate.hpp"

namespace hilo {

// Mean and variance of the return of every pair (s, a) under a policy.
struct ReturnMoments {
  std::vector<double> mean, variance;  // [s * num_actions + a]
};

ReturnMoments return_moments(const Model& model, const PolicyMatrix& policy, double gamma);

// The same for the high-fidelity return and the low-fidelity return along the same, high-fidelity
// path, with their covariance.
struct PairedReturnMoments {
  ReturnMoments high;
  ReturnMoments low_on_path;
  std::vector<double> covariance;
};

// The high fidelity must have a model.
PairedReturnMoments paired_return_moments(const Fidelities& pair, const PolicyMatrix& policy,
                                          double gamma);

}  // namespace hilo
