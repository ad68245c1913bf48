#pragma once

#include <cstdint>

#include "hilo/core/simd.hpp"
#include "hilo/env/tabular_mdp.hpp"

namespace hilo::bench {

// The ceiling that training is measured against, and never to be changed in passing: 64 paths,
// interleaved, go through the alias rows of an MDP, each step drawn from a block of the same
// random stream as a roll-out's. A step is what no roll-out can do without: the block, the choice
// between the greedy action (here 0) and a uniform one with epsilon = 0.1, the row with its reward,
// the entry, the successor; each load depends on the one before it. Paths that end go on from state
// 0, so that nothing ever ends, no return is kept and no policy is looked up.
//
// Returns a number that depends on all steps. `steps` is per path.
double run_bare_loop(SimdPath path, const LockstepTables& tables, State terminal,
                     std::uint32_t steps, std::uint64_t seed);

inline constexpr std::uint32_t kBarePaths = 64;

}  // namespace hilo::bench
