#pragma once

#include <vector>

#include "hilo/exact/evaluate.hpp"

namespace hilo {

struct Solution {
  Values values;
  std::vector<Action> policy;  // an optimal action for each state; 0 in terminal ones
  std::size_t iterations = 0;
};

// The optimal values by repeated Bellman updates until they are within `tolerance`. Needs gamma
// < 1.
Solution value_iteration(const Model& model, double gamma, double tolerance = 1e-11);

// The same by evaluating and improving a policy until it is stable; needs few, costly iterations.
Solution policy_iteration(const Model& model, double gamma);

// The same for a model with after-states, by repeated Bellman updates of the after-states, of which
// there are few.
Solution solve_afterstates(const Model& model, double gamma, double tolerance = 1e-11);

// The policy that takes policy[s] in s.
PolicyMatrix deterministic_policy(const std::vector<Action>& policy, std::size_t num_actions);

}  // namespace hilo
