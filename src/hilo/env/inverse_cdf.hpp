#pragma once

#include <memory>
#include <vector>

#include "hilo/env/tabular_mdp.hpp"

namespace hilo {

// Draws from a TabularMdp by inverting the distribution function over the successors in state
// order. Slower than alias rows, but monotone in the random number: two similar rows driven by one
// number mostly give the same successor, which is what couples two fidelities.
class InverseCdfSampler {
 public:
  static constexpr bool kChecked = true;  // TabularBuilder checked every row

  explicit InverseCdfSampler(std::shared_ptr<const TabularMdp> mdp);

  std::size_t num_states() const { return mdp_->num_states(); }
  std::size_t num_actions() const { return mdp_->num_actions(); }
  bool is_terminal(State s) const { return mdp_->is_terminal(s); }
  double reward(State s, Action a, State next) const { return mdp_->reward(s, a, next); }
  const Model* model() const { return mdp_.get(); }

  State reset(Rng& rng) const;
  Step step(State s, Action a, Rng& rng) const;

 private:
  std::shared_ptr<const TabularMdp> mdp_;
  std::vector<double> cumulative_;  // of each row, at the indices of its probabilities
  std::vector<double> start_cumulative_;
};

}  // namespace hilo
