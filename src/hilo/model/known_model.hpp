#pragma once

#include <cstdint>
#include <vector>

#include "hilo/core/archive.hpp"
#include "hilo/env/fidelities.hpp"
#include "hilo/model/transition_counts.hpp"
#include "hilo/policy/q_table.hpp"

namespace hilo {

struct KnownModelOptions {
  double gamma = 0.99;
  std::uint32_t known_after = 10;  // visits
  double value_min = 0;            // lower bound of all values
  double value_max = 100;          // r_max / (1 - gamma)
};

// The model of R-max (Brafman and Tennenholtz 2002). A pair (s, a) is known once it was visited
// known_after times. Its model is the mean reward and the frequencies of its successors so far, and
// goes on learning (a departure from the paper, where it is then fixed). A pair that is not known
// has its upper bound as its value in the optimistic plan, which the agent acts by, and value_min
// in the cautious plan, which gives the reported values.
class KnownModel {
 public:
  KnownModel(std::size_t num_states, std::size_t num_actions, const KnownModelOptions& options);

  bool known(State s, Action a) const { return visits_[index(s, a)] >= options_.known_after; }

  // Counts one step; `ends`: it led to a terminal state.
  void observe(State s, Action a, double reward, State next, bool ends);

  // Sets the upper bound of the value of (s, a), which holds as long as the pair is not known.
  void bound(State s, Action a, double upper);

  // Whether enough steps were seen, or enough pairs became known, since the last plan.
  bool plan_is_stale() const { return steps_ >= next_steps_ || known_pairs_.size() >= next_known_; }

  // Value iteration over the known pairs, starting from the current values.
  void plan();

  const QTable& optimistic() const { return optimistic_; }
  const QTable& cautious() const { return cautious_; }
  std::uint64_t num_known() const { return known_pairs_.size(); }

  // An estimate of how far Q may lie above `guess`(T(s), a) at most, over the known pairs: the
  // largest D of
  //   D(s, a) = r + gamma E[max_a' guess(T(s'), a')] - guess(T(s), a) + gamma E[max_a' D(s', a')],
  // with D = 0 for pairs that are not known.
  double largest_excess(const QTable& guess, const StateMap& map) const;

  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  std::size_t index(State s, Action a) const { return s * optimistic_.num_actions() + a; }
  double tolerance() const { return 1e-4 * (options_.value_max - options_.value_min); }
  double mean_reward(State s, Action a) const {
    return rewards_[index(s, a)] / visits_[index(s, a)];
  }

  // r + gamma E[value(s')], of a known pair.
  template <class Value>
  double back_up(State s, Action a, const Value& value) const {
    double sum = 0;
    for (const auto& successor : counts_.row(index(s, a)))
      sum += successor.count * value(successor.next);
    return mean_reward(s, a) + options_.gamma * sum / visits_[index(s, a)];
  }

  KnownModelOptions options_;
  TransitionCounts counts_;  // of steps that did not end
  std::vector<std::uint32_t> visits_;
  std::vector<double> rewards_;           // sums
  std::vector<StateAction> known_pairs_;  // in the order in which they became known
  std::uint64_t steps_ = 0, next_steps_ = 1, next_known_ = 1;
  QTable optimistic_, cautious_;
};

}  // namespace hilo
