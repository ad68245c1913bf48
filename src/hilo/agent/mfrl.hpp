#pragma once

#include <memory>
#include <vector>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/env/fidelities.hpp"
#include "hilo/model/known_model.hpp"

namespace hilo {

struct MfrlOptions {
  KnownModelOptions model;               // of the high fidelity
  std::uint32_t low_known_after = 50;    // visits in the simulators below it
  double beta = 0;                       // how far values may lie above those of the level below
  bool estimate_beta = false;            // use the largest excess seen, if that is more than beta
  std::uint32_t known_steps = 5000;      // m_known: steps in a row before going up a level
  std::uint32_t unknown_pairs = 10;      // m_unknown: visits before going down a level
  std::uint64_t low_steps = 10'000'000;  // at most, over all of training
  std::uint32_t max_steps = 10'000;      // of a low-fidelity episode
};

// Multi-fidelity R-max of Cutler, Walsh and How ("Reinforcement learning with multi-fidelity
// simulators", ICRA 2014; "Real-world reinforcement learning via multifidelity simulators", IEEE
// Transactions on Robotics, 2015): a chain of simulators, each with an R-max learner whose optimism
// comes from the level below:
//   U(s, a) = min(value_max, Q_below(T(s), a) + beta)
// It starts in the cheapest simulator. It goes up a level after known_steps successive steps
// through known pairs, and down a level after unknown_pairs visits to pairs that are known neither
// there nor below. Without low fidelities it is R-max. Departures from the paper: the agent leaves
// the high fidelity only after whole episodes, and what is known there is not passed down.
class Mfrl final : public TabularAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 1;
  static constexpr std::uint32_t kArchiveVersion = 1;

  // `chain`: from the simulator right below the high fidelity down to the cheapest.
  Mfrl(std::size_t num_states, std::size_t num_actions, std::vector<LowFidelity> chain,
       const MfrlOptions& options, std::uint64_t seed);

  Behaviour behaviour() const override { return levels_[0].optimistic().behaviour(0); }
  LearnReport prepare() override;
  LearnReport learn(const Episode& episode) override;
  const QTable& q() const override { return levels_[0].cautious(); }
  std::uint64_t episodes() const override { return episodes_; }
  double standard_error(State s, Action a) const override;
  std::vector<Fact> findings() const override;
  std::vector<std::byte> save() const override;
  void load(std::span<const std::byte> bytes) override;

  const KnownModel& level(std::size_t d) const { return levels_[d]; }  // 0: the high fidelity
  double beta(std::size_t d) const { return betas_[d]; }               // between levels d and d + 1

 private:
  // Learns in simulator d (1: right below the high fidelity) until known_steps successive steps go
  // through known pairs or low_steps are used, going further down where needed. Then passes its
  // values up.
  void learn_below(std::size_t d, LearnReport& report);
  void run_below(std::size_t d, const StateAction* start, std::uint64_t& known_in_a_row,
                 LearnReport& report);
  void take_in(std::size_t d, const Episode& episode, std::uint64_t& known_in_a_row);
  void hand_up(std::size_t d);

  std::vector<LowFidelity> chain_;
  MfrlOptions options_;
  std::uint64_t seed_;

  std::vector<KnownModel> levels_;  // 0: the high fidelity
  std::vector<double> betas_;
  std::vector<std::vector<StateAction>> open_;  // by level: pairs visited that are known neither
                                                // there nor below, as pairs of the level below
  std::uint64_t episodes_ = 0;
  std::uint64_t low_steps_ = 0, low_episodes_ = 0;
  bool prepared_ = false;

  Episode low_;  // buffer
};

}  // namespace hilo
