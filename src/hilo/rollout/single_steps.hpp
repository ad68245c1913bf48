#pragma once

#include "hilo/env/simulator.hpp"

namespace hilo {

// One step of a simulator from `start`, which must not be terminal, for learners of models. Throws
// if the simulator gave something that no table can hold.
Step sample_step(const Simulator& simulator, StateAction start, const StreamAddress& streams);

}  // namespace hilo
