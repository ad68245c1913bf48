#pragma once

#include <cstdint>
#include <span>

#include "hilo/env/environment.hpp"

namespace hilo {

// The greedy actions of one state: how many tie, and the first of them.
struct GreedyHead {
  std::uint32_t count;
  Action first;
};

// An epsilon-greedy policy in the form that simulators execute without calling back: with
// probability epsilon a uniformly random action, otherwise one of the state's greedy actions,
// chosen uniformly. It is a view, valid until the policy it was taken from is changed or destroyed.
struct Behaviour {
  std::span<const GreedyHead> heads;  // by state
  std::span<const Action> ties;       // [s * num_actions + k], k < heads[s].count, rising; read
                                      // only where heads[s].count > 1
  std::uint32_t num_actions = 0;
  double epsilon = 0;

  // The action in state s, given the first two random words of a step.
  Action choose(State s, std::uint32_t explore_word, std::uint32_t action_word) const {
    if (static_cast<double>(explore_word) < epsilon * 0x1p32)
      return scale_below(action_word, num_actions);
    const GreedyHead head = heads[s];
    if (head.count == 1) return head.first;
    return ties[std::size_t{s} * num_actions + scale_below(action_word, head.count)];
  }
};

}  // namespace hilo
