#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hilo/store/journal.hpp"

// For the sources of this folder only: expensive episodes as bytes of a journal.
namespace hilo {

// An archive (core/archive.hpp) with states or observations, actions, rewards, whether the episode
// was cut, the probabilities of the actions and the discounted return, deflated by zlib; before it,
// the size of the archive as 8 bytes, little-endian.
std::vector<std::byte> pack(const PaidEpisode& paid);
// Throws Errc::data unless the bytes are such an episode.
PaidEpisode unpack(std::span<const std::byte> bytes);

}  // namespace hilo
