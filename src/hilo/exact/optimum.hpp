#pragma once

#include <cstdint>
#include <vector>

#include "hilo/env/environment.hpp"
#include "hilo/exact/policy_matrix.hpp"

namespace hilo {

// The best that an agent could reach in a problem whose model is known.
struct Optimum {
  std::vector<std::uint8_t> optimal;  // [s * num_actions + a]: whether a is a best action of s
  double value = 0;                   // of a discounted-optimal policy from the start
  double mean_reward = 0;  // the paper's y axis under that policy; others may exceed it a little
};

// Needs gamma < 1.
Optimum find_optimum(const Model& model, double gamma, std::uint32_t max_steps);

// The probability that the policy takes an optimal action, averaged over all non-terminal states
// with equal weights.
double share_of_optimal_actions(const Model& model, const Optimum& optimum,
                                const PolicyMatrix& policy);

}  // namespace hilo
