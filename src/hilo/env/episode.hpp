#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hilo/env/environment.hpp"

namespace hilo {

// s_0, a_0, r_1, s_1, ..., s_T. Buffers are kept when an episode is overwritten, so that recording
// costs no allocation once they have grown.
struct Episode {
  std::vector<State> states;  // length() + 1 of them
  std::vector<Action> actions;
  std::vector<double> rewards;
  bool truncated = false;  // cut by max_steps or by the simulator: the last state is not terminal
  std::optional<double> cost = {};  // that the simulator reported, if it did

  std::size_t length() const { return actions.size(); }
  // Whether step t led to a terminal state: the last one does, unless the episode was cut.
  bool ends_at(std::size_t t) const { return t + 1 == length() && !truncated; }

  void begin(State s) {
    states.assign(1, s);
    actions.clear();
    rewards.clear();
    truncated = false;
    cost.reset();
  }

  void append(Action a, double r, State next) {
    actions.push_back(a);
    rewards.push_back(r);
    states.push_back(next);
  }
};

// Summary of a roll-out whose path is not kept.
struct RolloutSummary {
  double discounted_return = 0;  // sum of gamma^t r_{t+1}, added from t = 0 on
  double reward_sum = 0;
  std::uint32_t steps = 0;
  bool truncated = false;

  // The paper's y axis for one episode.
  double mean_reward() const { return steps > 0 ? reward_sum / steps : 0; }
};

}  // namespace hilo
