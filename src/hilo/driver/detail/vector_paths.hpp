#pragma once

#include "hilo/env/vector_simulator.hpp"
#include "hilo/store/journal.hpp"

// For the sources of this folder only: episodes of vectors as the journal has them.
namespace hilo {

VectorPath path_of(const VectorEpisode& episode, const AnySimulator& simulator);
// Throws Errc::simulator unless it is an episode of this simulator.
VectorEpisode episode_of(const VectorPath& path, const AnySimulator& simulator);

// What was seen of an episode, whole or not; nothing if it broke off in the middle of a step.
std::optional<VectorPath> whole_steps_of(const VectorEpisode& episode,
                                         const AnySimulator& simulator);

}  // namespace hilo
