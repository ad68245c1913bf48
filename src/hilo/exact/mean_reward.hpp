#pragma once

#include <cstdint>

#include "hilo/env/environment.hpp"
#include "hilo/exact/policy_matrix.hpp"

namespace hilo {

// Episodes are followed until at most this share of them is still running.
inline constexpr double kRunOut = 1e-12;

// The exact expectation of the paper's y axis: the mean reward per step of an episode, cut at
// max_steps, averaged over episodes. It is computed by a forward recursion, which stops when at
// most a share `tolerance` of the episodes is still running; those count with their mean so far.
double expected_mean_reward(const Model& model, const PolicyMatrix& policy, std::uint32_t max_steps,
                            double tolerance = kRunOut);

}  // namespace hilo
