#pragma once

#include <cstdint>

#include "hilo/env/fidelities.hpp"

namespace hilo::testing {

struct TrainingPlan {
  double returns = 50;  // of a pair, averaged over the returns
  std::uint32_t low_rollouts = 5;
  double gamma = 0.99;
  int trainings = 40;
  std::uint64_t first_seed = 5000;
};

// What MFMCRL+ really changes of the squared error of plain Monte Carlo with the same weights,
// under the uniform policy: the ratio of the sums over trainings and pairs, each pair weighted by
// its returns, less 1. The truth that predictions are judged by; needs a model of the high
// fidelity.
double realised_change(const Fidelities& pair, const TrainingPlan& plan);

}  // namespace hilo::testing
