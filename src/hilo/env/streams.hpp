#pragma once

#include "hilo/core/random.hpp"

namespace hilo {

// Where a call draws its random numbers (docs/streams.md).
struct StreamAddress {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::user;
  std::uint32_t episode = 0;
  std::uint32_t first_pair = 0;     // number of the first pair and of the first roll-out, so that a
  std::uint32_t first_rollout = 0;  // large batch can be asked for in parts with the same results
  std::uint32_t first_step = 0;  // steps of the streams to skip, for coupled paths that start later

  // The stream of a pair and a roll-out, counted from first_pair and first_rollout.
  Stream stream(std::uint32_t pair = 0, std::uint32_t rollout = 0) const {
    return {seed, purpose, episode, first_pair + pair, first_rollout + rollout};
  }
};

// The discount factor, and the length at which a path is cut.
struct Horizon {
  double gamma = 1;
  std::uint32_t max_steps = kMaxSteps;
};

// Throws Errc::usage unless all streams that `num_pairs` times `num_rollouts` roll-outs need have
// an address.
void check_streams(const StreamAddress& streams, const Horizon& horizon, std::size_t num_pairs,
                   std::size_t num_rollouts);

}  // namespace hilo
