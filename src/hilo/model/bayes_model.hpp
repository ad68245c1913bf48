#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hilo/core/moments.hpp"
#include "hilo/env/fidelities.hpp"
#include "hilo/model/reward_regression.hpp"
#include "hilo/model/row_prior.hpp"
#include "hilo/model/transition_counts.hpp"

namespace hilo {

// A Bayesian model of the high fidelity: counts of its own steps, with a prior from the low
// fidelity. A step is split into three questions, the first two with fitted priors
// (model/row_prior.hpp), and a reward (model/reward_regression.hpp):
//   does it end?            base: how often any step ends
//   if not, to which state
//   of the low fidelity?    base: where all steps lead
//   to which of the states  prior: uniform over them, worth kWithin observations
//   that T maps there?
class BayesModel {
 public:
  BayesModel(Fidelities pair, bool use_low);

  // Learns the low-fidelity model from `samples` steps of every pair that is not terminal. Returns
  // the number of steps.
  std::uint64_t learn_low(std::uint32_t samples, std::uint64_t seed);

  // Counts the steps of an episode. Calls link(s, next) when a pair of s leads to `next` for the
  // first time.
  template <class Link>
  void observe(const Episode& episode, Link&& link) {
    for (std::size_t t = 0; t < episode.length(); ++t)
      if (observe_step(episode, t)) link(episode.states[t], episode.states[t + 1]);
  }

  // Refits the prior strengths, the reward regression and the base chance of an end to all data so
  // far. Between calls they do not change.
  void refit();

  // The posterior of one pair.
  struct Belief {
    double reward = 0, reward_variance = 0;  // expected reward, and the variance of that mean
    double end = 0;                          // chance that the step ends
    double end_variance = 0;                 // of that chance
    double end_penalty = 0;                  // expected reward if it goes on, less that if it ends
    RowPrior::Weights successor;             // of low-fidelity states, if it goes on
  };
  Belief belief(State s, Action a) const;

  // The posterior without the low fidelity, and whether the agent must consider it: it must after
  // enough steps to try all pairs of the states seen a few times. So every pair that only the low
  // fidelity rates as bad is tried in the end.
  Belief belief_alone(State s, Action a) const;
  bool patience_is_over() const { return patience_is_over_; }

  // Successors seen in the high fidelity and in the low fidelity, and the number of low-fidelity
  // steps that did not end.
  std::span<const TransitionCounts::Successor> successors(State s, Action a) const {
    return counts_.row(index(s, a));
  }
  std::span<const TransitionCounts::Successor> low_successors(State s, Action a) const {
    return use_low_ ? low_counts_.row(low_index(s, a))
                    : std::span<const TransitionCounts::Successor>();
  }
  double low_total(State s, Action a) const {
    return use_low_ ? static_cast<double>(low_samples_ - low_ends_[low_index(s, a)]) : 0;
  }

  // The chance of a low-fidelity successor in the low fidelity; empty if it has no such steps.
  std::optional<double> low_chance(State s, Action a, State next_lo) const;

  const Fidelities& pair() const { return pair_; }
  // T, or the identity if the low fidelity is not used, because then nothing may depend on it.
  const StateMap& map() const { return own_map_ ? *own_map_ : pair_.map(); }
  bool use_low() const { return use_low_; }
  // Whether a state was never left, and an episode ended there or T maps it to a terminal state. It
  // then needs no planning.
  bool seems_terminal(State s) const;
  static constexpr double kWithin = 0.5;
  double base(State s) const { return (arrivals_[s] + 1) / (num_arrivals_ + num_states()); }
  std::uint64_t visits(State s, Action a) const { return rewards_[index(s, a)].count; }
  const TransitionCounts& low_counts() const { return low_counts_; }
  // Whether the low-fidelity model was corrected since the last call. It is corrected where it ends
  // in a state that the high fidelity was seen to leave.
  bool take_correction() { return std::exchange(corrected_, false); }
  // The weight of the low fidelity in the prediction for a pair that was never tried.
  double trust_in_low_ends() const {
    return end_priors_[1].weights(0, use_low_, RowPrior::no_evidence()).low;
  }
  double trust_in_low_successors() const {
    return successor_prior_.weights(0, use_low_, RowPrior::no_evidence()).low;
  }
  const RewardFit& reward_fit() const { return reward_fit_; }

  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  std::size_t index(State s, Action a) const { return s * pair_.num_actions() + a; }
  std::size_t low_index(State s, Action a) const { return index(map().low_of(s), a); }
  double num_states() const { return static_cast<double>(arrivals_.size()); }
  bool observe_step(const Episode& episode, std::size_t t);
  double low_reward(State s, Action a, State next) const;
  double checked_low_reward(State s_lo, Action a, State next_lo) const;
  std::optional<double> low_chance_of_end(State s, Action a) const;
  double count_in_block(std::size_t i, State next_lo) const;
  double base_of_block(State next_lo) const;
  double chance_of_end() const;
  static bool says_end(std::optional<double> low_end) { return low_end && *low_end > 0.5; }
  void refit_alone();
  void leave(State s);

  Fidelities pair_;
  bool use_low_;
  std::optional<StateMap> own_map_;
  bool one_to_one_ = true;  // T

  // The low-fidelity model, by low-fidelity pair.
  std::uint32_t low_samples_ = 0;
  double low_chance_of_any_end_ = 0.5, low_mean_go_pays_ = 0;  // over all pairs
  TransitionCounts low_counts_;                                // of steps that did not end
  TransitionCounts low_end_counts_;                            // of steps that ended
  std::vector<std::uint32_t> low_ends_;
  std::vector<double> low_reward_go_, low_reward_end_;  // sums over the steps of either kind

  // The high fidelity, by pair.
  TransitionCounts counts_;
  std::vector<std::uint32_t> ends_;
  std::vector<double> low_reward_seen_end_;  // sum of low-fidelity rewards of the steps that ended
  std::vector<RewardMeans> rewards_;
  // By state.
  std::vector<double> arrivals_;           // steps that led there and did not end
  std::vector<std::uint8_t> departed_;     // whether a step was taken from there
  std::vector<std::uint8_t> ended_there_;  // whether an episode ended there
  std::vector<std::uint8_t> no_end_;       // by low-fidelity state: terminal, but seen to be left
  bool corrected_ = false;
  double num_arrivals_ = 0, num_ends_ = 0, num_departed_ = 0;
  Moments seen_end_rewards_;  // low-fidelity rewards of steps that end

  // Evidence of the pairs seen, in order of first appearance.
  std::vector<std::uint32_t> slot_;  // by pair: 0, or 1 + its index in the following vectors
  std::vector<RowPrior::Evidence> end_evidence_, successor_evidence_;
  std::vector<std::uint8_t> says_end_;  // by slot: whether the low fidelity predicts an end
  std::array<RowPrior, 2> end_priors_;  // by that prediction
  RowPrior successor_prior_;
  RowPrior end_alone_, successor_alone_;  // without the low fidelity
  RewardRegression regression_;

  // As of the last refit.
  RewardFit reward_fit_;
  double base_end_ = 0.5;
  Moments end_rewards_;
  RewardFit reward_alone_;
  bool patience_is_over_ = false;
};

}  // namespace hilo
