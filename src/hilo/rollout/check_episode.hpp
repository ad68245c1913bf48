#pragma once

#include "hilo/env/episode.hpp"

namespace hilo {

// Throws unless states and actions are in range, rewards are finite and the lengths fit: an episode
// may come from anywhere.
void check_episode(const Episode& episode, std::size_t num_states, std::size_t num_actions);

// Throws unless a low-fidelity roll-out began where it was asked to begin: any simulator may stand
// behind the interface.
void check_started_at(const Episode& rollout, StateAction start);

}  // namespace hilo
