#pragma once

#include <vector>

#include "hilo/env/fidelities.hpp"
#include "hilo/policy/q_table.hpp"

namespace hilo {

// The policy pi seen from the low fidelity (footnote to Algorithm 1, l. 5): epsilon-greedy in
//   Q_lo(s_lo, a) = sum of Q(s_hi, a) over all s_hi with T(s_hi) = s_lo.
class LowPolicy {
 public:
  LowPolicy(const StateMap& map, std::size_t num_actions) : q_(map.num_low_states(), num_actions) {}

  // Call after Q(s_hi, a) has changed. The sum is recomputed rather than corrected, so that no
  // rounding error builds up and ties stay ties. This is cheap, as T is one-to-one or few-to-one.
  void update(const StateMap& map, const QTable& high, State s_hi, Action a) {
    sum_up(map, high, map.low_of(s_hi), a);
  }

  void update_all(const StateMap& map, const QTable& high) {
    for (State s_lo = 0; s_lo < map.num_low_states(); ++s_lo)
      for (Action a = 0; a < high.num_actions(); ++a) sum_up(map, high, s_lo, a);
  }

  const QTable& q() const { return q_; }

 private:
  void sum_up(const StateMap& map, const QTable& high, State s_lo, Action a) {
    double sum = 0;
    for (const State s : map.high_of(s_lo)) sum += high(s, a);
    q_.set(s_lo, a, sum);
  }

  QTable q_;
};

// A policy whose greedy action is the same in all states.
class FixedActionPolicy {
 public:
  FixedActionPolicy(std::size_t num_states, std::size_t num_actions, Action action)
      : num_actions_(static_cast<std::uint32_t>(num_actions)),
        action_(action),
        heads_(num_states, {1, action}) {}

  Behaviour behaviour(double epsilon) const {
    return {.heads = heads_,
            .ties = {&action_, 1},  // never read: nothing ties
            .num_actions = num_actions_,
            .epsilon = epsilon};
  }

 private:
  std::uint32_t num_actions_;
  Action action_;
  std::vector<GreedyHead> heads_;
};

}  // namespace hilo
