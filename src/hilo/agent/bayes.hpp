#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/model/bayes_model.hpp"
#include "hilo/rollout/first_visits.hpp"

namespace hilo {

struct BayesOptions {
  double gamma = 0.99;
  double optimism = 2;  // standard deviations that the unknown is rated above its mean
  bool use_low = true;  // false: learns from the high fidelity alone
  std::uint64_t low_steps = 10'000'000;  // at most, to learn the low-fidelity model, and
  std::uint32_t low_samples = 1000;      // at most so many for each pair; at least one
};

// Model-based learning with the cheap simulator as the prior. The high fidelity's transitions are
// counted on a Dirichlet prior that is centred on a model of the low fidelity, which is learnt by
// calling it; the strength of the prior is what makes the data most likely, so that a useless
// simulator loses its say (model/bayes_model.hpp). Acts greedily in optimistic values,
//   Q+ = mean + optimism * standard deviation + gamma E[V+(s')],
// and answers with the values of the mean model. When there were steps enough to try all that was
// seen a few times, it asks the same model without the low fidelity too: optimistic is the larger
// of the two, and the answer goes over to it pair by pair. After an episode that went in circles
// until it was cut, the next one acts partly at random. docs/math.md derives it.
class Bayes final : public TabularAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 3;
  static constexpr std::uint32_t kArchiveVersion = 3;

  Bayes(Fidelities pair, const BayesOptions& options, std::uint64_t seed);

  Behaviour behaviour() const override { return optimistic_.behaviour(explores_); }
  LearnReport prepare() override;
  LearnReport learn(const Episode& episode) override;
  const QTable& q() const override { return q_; }
  std::uint64_t episodes() const override { return episodes_; }
  // What it knows is how uncertain a pair is by itself, not what its successors add to that.
  double standard_error(State /*s*/, Action /*a*/) const override {
    return std::numeric_limits<double>::infinity();
  }
  std::vector<Fact> findings() const override;
  std::vector<std::byte> save() const override;
  void load(std::span<const std::byte> bytes) override;

  const BayesModel& model() const { return model_; }
  const QTable& optimistic() const { return optimistic_; }

 private:
  struct ValueMoments;

  std::size_t index(State s, Action a) const { return s * q_.num_actions() + a; }
  void explore_after(const Episode& episode);
  void refit();
  void summarise_values();
  void link(State s, State next);
  void link_low_model();
  void restore_links();
  void enqueue(State s);
  void plan(std::size_t most);
  void back_up(State s);
  void back_up(State s, Action a);
  void heed_high_alone(State s, Action a, const ValueMoments& seen);
  double mean_value(const BayesModel::Belief& b, const ValueMoments& next) const;
  double optimistic_value(const BayesModel::Belief& b, const ValueMoments& next) const;
  void set_terminal(State s);
  void believe(State s, Action a);
  void take_values(State s);
  void announce(State s);
  void announce_base();
  void sharpen(State s, Action a, const RowPrior::Weights& weights, ValueMoments& next) const;

  BayesModel model_;
  BayesOptions options_;
  std::uint64_t seed_;
  bool prepared_ = false;
  std::uint64_t episodes_ = 0;
  std::uint64_t next_refit_ = 1;
  std::uint64_t cut_episodes_ = 0;
  double explores_ = 0;  // the probability of a uniform action in the next episode

  // NamedValues: q_ of the mean model, optimistic_ of the optimistic one.
  QTable q_, optimistic_;
  std::vector<BayesModel::Belief> beliefs_, beliefs_alone_;

  // A value in the mean and in the optimistic model, or a mean of such values.
  struct ValueMoments {
    double mean = 0, square = 0, optimistic = 0;

    void add(double weight, const ValueMoments& other) {
      mean += weight * other.mean;
      square += weight * other.square;
      optimistic += weight * other.optimistic;
    }
    void scale(double factor) {
      mean *= factor;
      square *= factor;
      optimistic *= factor;
    }
  };
  struct Value {
    double mean = 0, optimistic = 0;
    double known_mean = 0, known_optimistic = 0;  // as those that depend on it last knew it

    ValueMoments moments() const { return {mean, mean * mean, optimistic}; }
  };
  std::vector<Value> values_;             // by state
  std::vector<ValueMoments> low_values_;  // by low-fidelity state: over those that T takes there
  ValueMoments base_value_;               // of where all steps lead
  ValueMoments known_base_;               // the same, as all rows last knew it
  double largest_value_ = 0;
  bool one_to_one_ = true;  // T

  // Planning: states to back up, and whom a changed value concerns.
  std::deque<State> queue_;
  std::vector<std::uint8_t> queued_;
  std::vector<std::vector<State>> predecessors_;      // by state, seen in the high fidelity
  std::vector<std::vector<State>> low_predecessors_;  // among low-fidelity states

  FirstVisits visits_;
};

}  // namespace hilo
