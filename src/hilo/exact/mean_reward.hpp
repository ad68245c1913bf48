#pragma once

#include <cstdint>

#include "hilo/env/environment.hpp"
#include "hilo/exact/policy_matrix.hpp"

namespace hilo {

// Episodes are followed until so small a share of them is still running.
inline constexpr double kRunOut = 1e-12;

// The exact expectation of the paper's y axis: the mean reward per step of an episode, cut at
// max_steps, averaged over episodes. A forward recursion, stopped when less than `tolerance` of the
// episodes are still running; those count with their mean so far.
double expected_mean_reward(const Model& model, const PolicyMatrix& policy, std::uint32_t max_steps,
                            double tolerance = kRunOut);

}  // namespace hilo
