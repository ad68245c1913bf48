#pragma once

#include <functional>

#include "hilo/env/environment.hpp"

namespace hilo {

// Throws Errc::simulator, and names the pair (s, a), unless every row of the model is a
// distribution over its states: successors in range and rising, probabilities in (0, 1] that sum to
// 1, rewards finite; the same for the start, and for after-states where it has them. One pass over
// all outcomes, the first time; free from then on.
void check_model(const Model& model);

// The same for the model of an environment, which must also have its size and its terminal states.
void check_model_of(const Model& model, std::size_t num_states, std::size_t num_actions,
                    const std::function<bool(State)>& is_terminal);

}  // namespace hilo
