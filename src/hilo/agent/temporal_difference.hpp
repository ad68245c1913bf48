#pragma once

#include <limits>
#include <vector>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/archive.hpp"

namespace hilo {

struct TdOptions {
  double gamma = 0.99;
  double epsilon = 0.1;
  double step_exponent = 0.8;  // the n-th update of a pair has the step size n^-step_exponent
  double step_size = 0;        // if above 0, the step size of all updates instead
};

// Action values that are learnt step by step: Q(s, a) <- Q(s, a) + step (target - Q(s, a)).
class TdValues {
 public:
  TdValues(std::size_t num_states, std::size_t num_actions, const TdOptions& options);

  const TdOptions& options() const { return options_; }
  const QTable& q() const { return q_; }
  Behaviour behaviour() const { return q_.behaviour(options_.epsilon); }
  double updates(State s, Action a) const { return updates_[s * q_.num_actions() + a]; }

  void update(State s, Action a, double target);
  // Sets the state as if (s, a) had been updated `updates` times and had reached `value`.
  void start_at(State s, Action a, double value, double updates);

  // One update of Q-learning for each step of an episode (Watkins 1989), in time order:
  //   target = r + gamma max_a Q(s', a)
  void q_learning(const Episode& episode);

  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  double step_size(double n) const;

  TdOptions options_;
  QTable q_;
  std::vector<double> updates_;  // [s * num_actions + a]: number of updates so far
};

// The common part of agents that learn one table of action values step by step and act
// epsilon-greedily in it. In textbooks the policy changes after every step; here it is fixed until
// the episode ends, because the high fidelity gives whole episodes.
class TdAgent : public TabularAgent {
 public:
  Behaviour behaviour() const override { return values_.behaviour(); }
  const QTable& q() const override { return values_.q(); }
  std::uint64_t episodes() const override { return episodes_; }

  // Step-by-step learning gives no estimate of the error.
  double standard_error(State /*s*/, Action /*a*/) const override {
    return std::numeric_limits<double>::infinity();
  }

 protected:
  TdAgent(std::size_t num_states, std::size_t num_actions, const TdOptions& options)
      : values_(num_states, num_actions, options) {}

  // Save and load the whole state of an agent that adds no state of its own.
  std::vector<std::byte> write(std::string_view tag, std::uint32_t version) const;
  void read(std::span<const std::byte> bytes, std::string_view tag, std::uint32_t version);

  TdValues values_;
  std::uint64_t episodes_ = 0;
};

}  // namespace hilo
