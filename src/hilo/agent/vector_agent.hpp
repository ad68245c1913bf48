#pragma once

#include "hilo/agent/agent.hpp"
#include "hilo/env/vector_simulator.hpp"

namespace hilo {

// An agent for observations and actions that are vectors.
class VectorAgent : public Agent {
 public:
  // The same as in TabularAgent. If it throws, the agent must be loaded from a saved state before
  // it is used again.
  virtual LearnReport learn(const VectorEpisode& episode) = 0;

  // The agent's own estimate of the value of its greedy policy, if it has one.
  virtual std::optional<double> own_value() const { return std::nullopt; }
};

}  // namespace hilo
