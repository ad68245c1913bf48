#pragma once

#include "hilo/agent/exploration.hpp"
#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/estimator/sample_mean.hpp"
#include "hilo/rollout/first_visits.hpp"

namespace hilo {

struct McrlOptions {
  double gamma = 0.99;
  double epsilon = 0.1;
  double recency = kEqualWeights;  // of all returns: core/moments.hpp
  Exploration exploration = Exploration::standard;
};

// On-policy first-visit Monte Carlo control with epsilon-soft policies (Sutton and Barto, 2nd ed.,
// section 5.4): the paper's baseline, which uses the high fidelity alone.
class Mcrl final : public TabularAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 2;
  static constexpr std::uint32_t kArchiveVersion = 3;

  Mcrl(std::size_t num_states, std::size_t num_actions, const McrlOptions& options);

  Behaviour behaviour() const override { return q_.behaviour(explores_); }
  LearnReport learn(const Episode& episode) override;
  const QTable& q() const override { return q_; }
  std::uint64_t episodes() const override { return episodes_; }
  std::vector<std::byte> save() const override;
  void load(std::span<const std::byte> bytes) override;

  double standard_error(State s, Action a) const override {
    return sample_mean(returns(s, a)).standard_error;
  }

  const Moments& returns(State s, Action a) const { return returns_[s * q_.num_actions() + a]; }

 private:
  McrlOptions options_;
  double explores_;  // the probability of a uniform action
  QTable q_;
  std::vector<Moments> returns_;  // [s * num_actions + a]
  std::uint64_t episodes_ = 0;

  FirstVisits first_visits_;
};

}  // namespace hilo
