#pragma once

#include <span>
#include <vector>

#include "hilo/env/behaviour.hpp"

namespace hilo {

// State-action values whose greedy actions are kept up to date. A change costs O(ties), and a scan
// of the state's row only when the value of its only greedy action falls.
class QTable {
 public:
  // All zero, so that all actions tie.
  QTable(std::size_t num_states, std::size_t num_actions);

  std::size_t num_states() const { return heads_.size(); }
  std::size_t num_actions() const { return num_actions_; }
  double operator()(State s, Action a) const { return values_[s * num_actions_ + a]; }
  std::span<const double> values() const { return values_; }
  double best(State s) const { return best_[s]; }  // max_a Q(s, a)

  void set(State s, Action a, double value);  // the value must be finite
  void assign(std::span<const double> values);

  std::span<const Action> greedy_actions(State s) const {
    return std::span(ties_).subspan(s * num_actions_, heads_[s].count);
  }

  // epsilon-greedy; epsilon = 0 is the greedy policy, 1 the uniform one. Ties are broken at random.
  Behaviour behaviour(double epsilon) const;

 private:
  void rescan(State s);

  std::size_t num_actions_;
  std::vector<double> values_;
  std::vector<double> best_;       // by state
  std::vector<GreedyHead> heads_;  // by state
  std::vector<Action> ties_;       // [s * num_actions + k], k < heads[s].count, rising
};

}  // namespace hilo
