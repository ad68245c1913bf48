#pragma once

#include "hilo/env/fidelities.hpp"

namespace hilo {

// Overwrites `low` by the low-fidelity image of a high-fidelity episode: its states mapped by T,
// its actions, and the rewards that the low fidelity gives for them.
void shadow(const Fidelities& pair, const Episode& high, Episode& low);

// Throws unless states and actions are in range, rewards are finite and the lengths fit: an episode
// may come from anywhere.
void check_episode(const Episode& episode, std::size_t num_states, std::size_t num_actions);

// Throws unless a low-fidelity roll-out began where it was asked to begin: any simulator may stand
// behind the interface.
void check_started_at(const Episode& rollout, StateAction start);

}  // namespace hilo
