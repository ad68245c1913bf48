#pragma once

#include <functional>

#include "hilo/env/environment.hpp"

namespace hilo {

// Throws Errc::simulator, and names the pair (s, a), unless every row of a non-terminal state is a
// distribution over the model's states: successors in range and rising, probabilities in (0, 1]
// that sum to 1, rewards finite. After-states are checked in the same way. Start states must be in
// range, with probabilities in [0, 1] that sum to 1. The first call passes over all outcomes; later
// calls cost nothing.
void check_model(const Model& model);

// The same for the model of an environment. The model must also have the environment's numbers of
// states and actions, and its terminal states.
void check_model_of(const Model& model, std::size_t num_states, std::size_t num_actions,
                    const std::function<bool(State)>& is_terminal);

}  // namespace hilo
