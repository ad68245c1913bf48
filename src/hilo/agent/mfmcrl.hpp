#pragma once

#include <string>
#include <string_view>

#include "hilo/agent/agent.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/env/fidelity_pair.hpp"
#include "hilo/env/projection.hpp"
#include "hilo/estimator/estimator.hpp"
#include "hilo/policy/low_policy.hpp"
#include "hilo/rollout/first_visits.hpp"

namespace hilo {

// What the low-fidelity roll-outs follow in their greedy branch.
enum class LowBehaviour : std::uint8_t {
  policy,    // "policy": pi, through the preimage sum
  action_0,  // "action-0": always the first action, as in the published synthetic curves
};

// Which low-fidelity returns of an episode go into the population mean.
enum class Pool : std::uint8_t {
  start_pairs,   // "start-pairs": m roll-outs for each distinct pair, the return of the start alone
  first_visits,  // "first-visits": every first visit on a roll-out counts for its pair, and a pair
                 // is rolled out only until m new returns have come
  whole_paths,   // "whole-paths": m roll-outs for each distinct pair, and every first visit on them
                 // counts for its pair: more returns from the same steps
};

// How the low-fidelity returns that are paired with high-fidelity ones come about.
enum class Coupling : std::uint8_t {
  path,                   // "path": low-fidelity rewards along the high-fidelity episode, as in the
                          // paper; their mean is Q_lo only if the dynamics are the same
  common_random_numbers,  // "common-random-numbers": roll-outs in the low fidelity, driven by the
                          // random numbers of the high-fidelity episode; their mean is Q_lo
  none,                   // "none": independent roll-outs, to compare with
};

// The names used in specs, as above.
LowBehaviour low_behaviour_from_name(std::string_view name);
Pool pool_from_name(std::string_view name);
Coupling coupling_from_name(std::string_view name);
std::string_view name_of(LowBehaviour low_behaviour);
std::string_view name_of(Pool pool);

// The three choices that tell Algorithm 1 from the published curves; docs/departures.md explains
// them. The projection belongs to the low fidelity and is chosen when that is built.
struct Variant {
  LowBehaviour low_policy;
  Projection projection;
  Pool pool;
};
inline constexpr Variant kAsWritten = {LowBehaviour::policy, Projection::simplex,
                                       Pool::start_pairs};
inline constexpr Variant kAsPublished = {LowBehaviour::action_0, Projection::bisection,
                                         Pool::first_visits};

// "as-written" or "as-published".
Variant variant_from_name(std::string_view name);

struct MfmcrlOptions {
  double gamma = 0.99;
  double epsilon = 0.1;
  std::uint32_t low_rollouts = 10;  // m
  LowBehaviour low_policy = kAsWritten.low_policy;
  Pool pool = kAsWritten.pool;
  std::uint32_t max_steps = 10'000;  // of a low-fidelity roll-out
  EstimatorOptions estimator = {};
  double recency = kEqualWeights;    // of all returns: core/moments.hpp
  std::uint64_t pilot_episodes = 0;  // the first so many come from the uniform policy
  Coupling coupling = Coupling::path;
};

// MFMCRL+: the empirical-Bayes estimator, returns that fade as the policy changes, and every first
// visit of a roll-out.
MfmcrlOptions mfmcrl_plus();

// Multifidelity Monte Carlo RL: Algorithm 1 of the paper, with a choice of its estimator. Coupling
// by common random numbers supposes that the k-th episode learnt from is the k-th of the streams
// Purpose::high_episode of the same seed; with others the returns are merely not coupled.
class Mfmcrl final : public Agent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 1;
  static constexpr std::uint32_t kArchiveVersion = 2;

  // The seed addresses the streams of the low-fidelity roll-outs.
  Mfmcrl(FidelityPair pair, const MfmcrlOptions& options, std::uint64_t seed);

  Behaviour behaviour() const override { return q_.behaviour(options_.epsilon); }
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
  std::size_t index(State s, Action a) const { return s * q_.num_actions() + a; }
  Evidence evidence(State s, Action a) const;
  RolloutBatch low_batch() const;
  void pool_path_returns();
  void pair_with_rollouts(const Episode& high, LearnReport& report);
  void sample_start_pairs(LearnReport& report);
  void sample_part(const RolloutBatch& batch, std::span<const StateAction> starts,
                   std::uint32_t rollouts, LearnReport& report);
  void sample_paths(LearnReport& report);
  void check_rollout(StateAction start) const;
  void pool_first_visits_of_rollout();
  void update_values(const Episode& high, LearnReport& report);

  FidelityPair pair_;
  MfmcrlOptions options_;
  std::uint64_t seed_;

  // The state: what save writes. Q_lo follows from Q.
  QTable q_;
  std::vector<CoMoments> paired_;   // [s_hi * num_actions + a]
  std::vector<Moments> free_pool_;  // [s_lo * num_actions + a]
  std::vector<Moments> path_pool_;
  std::unique_ptr<Estimator> estimator_;
  std::uint64_t episodes_ = 0;

  LowPolicy low_policy_;
  FixedActionPolicy action_0_;

  // Work space, kept so that learning allocates nothing.
  FirstVisits high_visits_, low_visits_;
  Episode low_, rollout_;
  std::vector<StateAction> starts_;  // distinct (T(s), a) in order of first appearance
  std::vector<RolloutSummary> summaries_;
  std::vector<double> returns_;
  std::vector<double> low_returns_;  // [t]: coupled to the high-fidelity return from step t on;
                                     // current at first visits of high-fidelity pairs
  std::vector<std::uint32_t> new_returns_;  // [s_lo * num_actions + a], current for starts_ only
};

}  // namespace hilo
