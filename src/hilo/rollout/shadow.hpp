#pragma once

#include "hilo/env/fidelities.hpp"

namespace hilo {

// Overwrites `low` by the low-fidelity image of a high-fidelity episode: its states mapped by T,
// its actions, and the rewards that the low fidelity gives for them.
void shadow(const Fidelities& pair, const Episode& high, Episode& low);

}  // namespace hilo
