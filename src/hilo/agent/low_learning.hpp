#pragma once

#include "hilo/agent/temporal_difference.hpp"
#include "hilo/env/fidelity_pair.hpp"

namespace hilo {

// How long to learn in the low fidelity before the first high-fidelity episode.
struct LowLearning {
  std::uint64_t low_steps = 10'000'000;  // at least so many, in whole episodes
  std::uint32_t max_steps = 10'000;      // of an episode
};

void validate(const LowLearning& learning);

// Q-learning on episodes of the low fidelity from its own start, with the streams
// Purpose::preparation of the seed. Adds what it did to the report.
TdValues learn_in_low_fidelity(const Simulator& low, const TdOptions& options,
                               const LowLearning& learning, std::uint64_t seed,
                               LearnReport& report);

// Q(s, a) = Q_lo(T(s), a) everywhere, as if updated `updates` times.
void lift(const QTable& low, const StateMap& map, double updates, TdValues& values);

}  // namespace hilo
