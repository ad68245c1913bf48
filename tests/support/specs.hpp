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

// MCRL on the tables of a folder; `more` goes on with [train] and other parts.
inline std::string table_spec(const std::string& folder, const std::string& more = "") {
  return "spec_version = 1\nname = \"t\"\n[problem]\nkind = \"table\"\nfolder = \"" + folder +
         "\"\n[train]\nepisodes = 20\n" + more + "[[agent]]\nkind = \"mcrl\"\n";
}

// With exact values that do not exist where a policy never ends.
inline const std::string kNeverEnds =
    "gamma = 1.0\nmax_steps = 50\n[test]\nevery = 10\nepisodes = 2\nexact_every = 10\n";

}  // namespace hilo::testing
