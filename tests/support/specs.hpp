#pragma once

#include <string>

namespace hilo::testing {

// A spec that runs in milliseconds: MCRL and two MFMCRL agents on a small problem.
inline std::string tiny_spec(const std::string& agents = "") {
  return R"(spec_version = 1
name = "tiny"
seeds = 3

[problem]
kind = "random-mdp"
states = 20
actions = 3
snr_db = 0

[train]
episodes = 40

[test]
every = 10
episodes = 5
exact_every = 20

[[agent]]
kind = "mcrl"
)" + agents;
}

inline const std::string kTwoMfmcrl = R"(
[[agent]]
kind = "mfmcrl"
sweep.low_rollouts = [1, 2]
)";

}  // namespace hilo::testing
