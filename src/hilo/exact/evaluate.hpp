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

// Reward of (s, a, next); lets a path be valued by the rewards of another fidelity.
using RewardFunction = std::function<double(State s, Action a, const Outcome& outcome)>;

// Values of a policy: solves v = r_pi + gamma P_pi v.
Values evaluate_policy(const Model& model, const PolicyMatrix& policy, double gamma);
Values evaluate_policy(const Model& model, const PolicyMatrix& policy, double gamma,
                       const RewardFunction& reward);

// E_{s ~ start}[v(s)].
double start_value(const Model& model, std::span<const double> v);

// What a policy is worth from the start: its discounted value, and the exact expectation of the
// paper's y axis (mean_reward.hpp). Looks only at actions that the policy takes, so it is much less
// work than all values.
struct StartValues {
  double value = 0;
  double mean_reward = 0;  // 0 without being computed if max_steps is 0
};
StartValues evaluate_from_start(const Model& model, const PolicyMatrix& policy, double gamma,
                                std::uint32_t max_steps);

}  // namespace hilo
