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
  double optimism = 2;  // uncertain values are raised by this many standard deviations
  bool use_low = true;  // false: learns from the high fidelity alone
  std::uint64_t low_steps = 10'000'000;  // upper limit for learning the low-fidelity model
  std::uint32_t low_samples = 1000;      // upper limit for each pair, which gets at least one step
};

// Model-based learning with the low fidelity as the prior. The transitions of the high fidelity
// update a Dirichlet prior that is centred on a model of the low fidelity, which is learnt by
// calling that simulator. The strength of the prior maximises the likelihood of the data, so that a
// useless simulator loses its influence (model/bayes_model.hpp). The agent acts greedily in
// optimistic values,
//   Q+ = mean + optimism * standard deviation + gamma E[V+(s')],
// and q() has the values of the mean model. After enough steps to try everything seen a few times,
// the same model without the low fidelity is used as well: the optimistic value is the larger of
// the two, and q() moves to the model without the low fidelity pair by pair. After an episode that
// went in circles until it was cut, the next one acts partly at random. docs/math.md has the
// derivation.
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
  // Unknown: the model gives the uncertainty of a pair itself, not what its successors add to it.
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

  // Values: q_ of the mean model, optimistic_ of the optimistic one.
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
    double known_mean = 0, known_optimistic = 0;  // as last announced to the predecessors

    ValueMoments moments() const { return {mean, mean * mean, optimistic}; }
  };
  std::vector<Value> values_;             // by state
  std::vector<ValueMoments> low_values_;  // by low-fidelity state: mean over those T maps there
  ValueMoments base_value_;               // mean over the states to which all steps lead
  ValueMoments known_base_;               // the same, as last announced
  double largest_value_ = 0;
  bool one_to_one_ = true;  // T

  // Planning: the states to back up, and the states that a changed value affects.
  std::deque<State> queue_;
  std::vector<std::uint8_t> queued_;
  std::vector<std::vector<State>> predecessors_;      // by state, seen in the high fidelity
  std::vector<std::vector<State>> low_predecessors_;  // among low-fidelity states

  FirstVisits visits_;
};

}  // namespace hilo
