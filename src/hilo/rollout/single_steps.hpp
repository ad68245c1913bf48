#pragma once

#include "hilo/env/simulator.hpp"

namespace hilo {

// One step of a simulator from `start`, which must not be terminal, for agents that learn a model.
// Throws if the next state is out of range or the reward is not finite.
Step sample_step(const Simulator& simulator, StateAction start, const StreamAddress& streams);

}  // namespace hilo
