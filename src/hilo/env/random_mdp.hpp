#pragma once

#include <cstdint>
#include <memory>

#include "hilo/env/tabular_mdp.hpp"

namespace hilo {

inline constexpr std::size_t kMaxRandomStates = 20'000;
inline constexpr std::size_t kMaxRandomActions = 1'000;

// The paper's random MDP (Appendix C.2). The last state is terminal.
struct RandomMdpOptions {
  std::size_t states = 200;  // the terminal one included
  std::size_t actions = 8;
  double terminal_probability = 0.1;  // p_t, from every state under every action
  std::size_t start_states = 10;      // the first states, on which episodes start uniformly
};

// Throws unless every option is in range and all fit together.
void validate(const RandomMdpOptions& options);

// For each (s, a): U_ref and U_0, U_1, ... uniform; successor i is possible if U_i > U_ref, with a
// probability proportional to another uniform number; the reward is a uniform number, or 0 if a
// successor chosen at random is impossible.
std::shared_ptr<const TabularMdp> make_random_mdp(const RandomMdpOptions& options,
                                                  std::uint64_t seed);

}  // namespace hilo
