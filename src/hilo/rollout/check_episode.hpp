#pragma once

#include "hilo/env/episode.hpp"

namespace hilo {

// Throws unless states and actions are in range, rewards are finite and the lengths match. The
// episode may come from any source.
void check_episode(const Episode& episode, std::size_t num_states, std::size_t num_actions);

// Throws unless a low-fidelity roll-out started at the requested pair. The check is needed because
// any simulator may implement the interface.
void check_started_at(const Episode& rollout, StateAction start);

}  // namespace hilo
