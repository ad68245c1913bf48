#pragma once

#include <functional>
#include <span>
#include <vector>

#include "hilo/env/environment.hpp"
#include "hilo/exact/policy_matrix.hpp"

namespace hilo {

// v(s) and q(s, a) = q[s * num_actions + a]; zero in terminal states.
struct Values {
  std::vector<double> v, q;
};

// Reward of (s, a, next). With it, paths of one fidelity can be valued by the rewards of another.
using RewardFunction = std::function<double(State s, Action a, const Outcome& outcome)>;

// Values of a policy: solves v = r_pi + gamma P_pi v.
Values evaluate_policy(const Model& model, const PolicyMatrix& policy, double gamma);
Values evaluate_policy(const Model& model, const PolicyMatrix& policy, double gamma,
                       const RewardFunction& reward);

// E_{s ~ start}[v(s)].
double start_value(const Model& model, std::span<const double> v);

// The value of a policy from the start distribution: its discounted value, and the exact
// expectation of the paper's y axis (mean_reward.hpp). Only actions that the policy takes are
// evaluated, so this is much less work than all values.
struct StartValues {
  double value = 0;
  double mean_reward = 0;  // not computed, and 0, if max_steps is 0
};
StartValues evaluate_from_start(const Model& model, const PolicyMatrix& policy, double gamma,
                                std::uint32_t max_steps);

}  // namespace hilo
