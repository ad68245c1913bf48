#pragma once

#include <filesystem>
#include <memory>

#include "hilo/env/fidelities.hpp"
#include "hilo/env/tabular_mdp.hpp"

namespace hilo {

// An MDP as a folder of two CSV files (docs/tables.md):
//   transitions.csv   state,action,next,probability,reward   sorted by state, action, next
//   start.csv         state,probability                      sorted by state
// Every state has rows for every action. A state whose actions all lead back to itself with
// probability 1 and reward 0 is terminal.

// Estimated bytes of the tables of a folder, by the size of transitions.csv: a line of text has
// about as many bytes as the transition it describes. 0 if there is no such file.
double bytes_of_mdp(const std::filesystem::path& folder);

std::shared_ptr<const TabularMdp> load_mdp(const std::filesystem::path& folder);
// The same from the texts of the two files.
std::shared_ptr<const TabularMdp> parse_mdp(const std::string& transitions,
                                            const std::string& start);
void save_mdp(const TabularMdp& mdp, const std::filesystem::path& folder);

// A pair as a folder with two MDPs, high/ and low/, and
//   map.csv           high,low                               sorted by high, every state once
// Without map.csv both must have the same number of states, and T is the identity.
Fidelities load_pair(const std::filesystem::path& folder);
// The same with a high fidelity that was loaded before.
Fidelities load_pair(const std::filesystem::path& folder,
                     const std::shared_ptr<const EpisodeSimulator>& high,
                     Sampling low_sampling = Sampling::alias);
void save_pair(const TabularMdp& high, const TabularMdp& low, const StateMap& map,
               const std::filesystem::path& folder);

// Loads map.csv alone.
StateMap load_map(const std::filesystem::path& file, std::size_t num_high_states,
                  std::size_t num_low_states);

}  // namespace hilo
