#pragma once

#include <algorithm>

#include "hilo/agent/mfmcrl_options.hpp"
#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/env/fidelities.hpp"
#include "hilo/policy/low_policy.hpp"
#include "hilo/rollout/first_visits.hpp"

namespace hilo {

// Multifidelity Monte Carlo RL: Algorithm 1 of the paper, with a choice of estimators. Coupling by
// common random numbers assumes that the k-th episode learnt from is the k-th of the streams
// Purpose::high_episode of the same seed; with other episodes the returns are just not coupled.
class Mfmcrl final : public TabularAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 2;
  static constexpr std::uint32_t kArchiveVersion = 4;

  // The seed addresses the streams of the low-fidelity roll-outs.
  Mfmcrl(Fidelities pair, const MfmcrlOptions& options, std::uint64_t seed);

  Behaviour behaviour() const override { return q_.behaviour(explores()); }
  Behaviour low_behaviour() const override;
  LearnReport learn(const Episode& episode) override;
  const QTable& q() const override { return q_; }
  std::uint64_t episodes() const override { return episodes_; }
  std::vector<std::byte> save() const override;
  void load(std::span<const std::byte> bytes) override;
  double standard_error(State s, Action a) const override;
  std::vector<Fact> findings() const override;

  Mfmcrl(const Mfmcrl& other);
  Mfmcrl& operator=(Mfmcrl&&) = default;
  ~Mfmcrl() override = default;

  // RetsH (x) and RetsL (y) of a high-fidelity pair.
  const CoMoments& paired_returns(State s, Action a) const { return paired_[index(s, a)]; }
  // RetsLP of a low-fidelity pair, in its two parts: roll-outs in the low fidelity, and
  // low-fidelity returns along high-fidelity episodes.
  const Moments& free_pool(State s_lo, Action a) const { return free_pool_[index(s_lo, a)]; }
  const Moments& path_pool(State s_lo, Action a) const { return path_pool_[index(s_lo, a)]; }
  double pool_mean(State s_lo, Action a) const;
  const Estimator& estimator() const { return *estimator_; }

 private:
  // The probability of a uniform action. Nothing is learnt from a cut episode, so the same values
  // could lead to the same greedy loop in the next one. So every successive cut episode increases
  // the probability, until an episode ends. The paper's estimator does without this, because its
  // purpose is to repeat the paper.
  double explores() const {
    if (options_.estimator.name == "paper") return explores_;
    constexpr double kLeast = 0.01;  // so that a policy without exploration leaves loops too
    return std::min(1.0,
                    explores_ + static_cast<double>(cut_in_a_row_) * std::max(explores_, kLeast));
  }
  std::size_t index(State s, Action a) const { return s * q_.num_actions() + a; }
  Evidence evidence(State s, Action a) const;
  StreamAddress low_streams() const;
  Horizon horizon() const { return {.gamma = options_.gamma, .max_steps = options_.max_steps}; }
  // A coupled roll-out that is cut cannot be dropped, as its pair has no other one. Then the free
  // roll-outs with which it is compared must not be dropped either.
  bool drops_cut_returns() const {
    return options_.truncation == Truncation::drop && options_.coupling == Coupling::path;
  }
  void pool_path_returns();
  void pair_with_rollouts(const Episode& high, LearnReport& report);
  void sample_start_pairs(LearnReport& report);
  void sample_part(const StreamAddress& streams, std::span<const StateAction> starts,
                   std::uint32_t rollouts, LearnReport& report);
  class PathPool;
  void sample_paths(LearnReport& report);
  void pool_first_visits(const Episode& rollout);
  void update_values(const Episode& high, LearnReport& report);

  Fidelities pair_;
  MfmcrlOptions options_;
  std::uint64_t seed_;
  double explores_;  // the probability of a uniform action after an episode that ended

  // The state that save() writes. Q_lo follows from Q.
  QTable q_;
  std::vector<CoMoments> paired_;   // [s_hi * num_actions + a]
  std::vector<Moments> free_pool_;  // [s_lo * num_actions + a]
  std::vector<Moments> path_pool_;
  std::unique_ptr<Estimator> estimator_;
  std::uint64_t episodes_ = 0;
  std::uint64_t cut_in_a_row_ = 0;  // number of cut episodes since the last one that ended

  LowPolicy low_policy_;
  FixedActionPolicy action_0_;

  // Buffers, kept so that learning allocates nothing.
  FirstVisits high_visits_, low_visits_;
  Episode low_;
  std::vector<StateAction> starts_;  // distinct (T(s), a) in order of first appearance
  std::vector<RolloutSummary> summaries_;
  std::vector<Moments*> pools_;  // of starts_, or of a part of them
  std::vector<double> returns_;
  std::vector<double> low_returns_;  // [t]: coupled to the high-fidelity return from step t on;
                                     // valid at first visits of high-fidelity pairs
  std::vector<std::uint32_t> new_returns_;  // [s_lo * num_actions + a], valid for starts_ only
};

}  // namespace hilo
