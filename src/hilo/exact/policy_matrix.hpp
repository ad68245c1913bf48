#pragma once

#include <vector>

#include "hilo/env/behaviour.hpp"

namespace hilo {

// pi(a | s), row by row.
struct PolicyMatrix {
  std::size_t num_states = 0, num_actions = 0;
  std::vector<double> probability = {};

  double operator()(State s, Action a) const { return probability[s * num_actions + a]; }
};

// The action probabilities of a behaviour.
PolicyMatrix policy_matrix(const Behaviour& behaviour);

}  // namespace hilo
