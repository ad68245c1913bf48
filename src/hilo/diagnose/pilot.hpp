#pragma once

#include <functional>
#include <vector>

#include "hilo/core/moments.hpp"
#include "hilo/env/fidelities.hpp"
#include "hilo/policy/low_policy.hpp"
#include "hilo/policy/q_table.hpp"
#include "hilo/rollout/first_visits.hpp"
#include "hilo/rollout/truncation.hpp"

namespace hilo {

struct PilotOptions {
  std::uint32_t episodes = 200;  // in the high fidelity
  std::uint32_t low_rollouts = 10;
  double gamma = 0.99;
  double epsilon = 0.1;
  std::uint32_t max_steps = 10'000;
  Truncation truncation = Truncation::drop;
  std::uint64_t seed = 0;
};

// A high-fidelity return of a pair (s, a) at its first visit in an episode, and the low-fidelity
// return along the same path.
struct CoupledReturn {
  std::uint32_t pair;  // s * num_actions + a
  std::uint32_t episode;
  double high, low;
};

// A few episodes under one fixed policy. All returns are kept, because a pilot is small and its
// uncertainty is estimated by leaving out episodes.
struct Pilot {
  std::size_t num_actions = 0;
  std::uint32_t episodes = 0, low_rollouts = 0;
  std::vector<CoupledReturn> returns;
  std::vector<Moments> free;  // free returns by low-fidelity pair: all first visits of roll-outs
  std::uint64_t high_steps = 0, low_steps = 0, free_returns = 0, truncated = 0;
  double high_seconds = 0, low_seconds = 0;  // spent in the simulators
};

// Makes a pilot of high-fidelity episodes that the caller brings, all under the policy that is
// epsilon-greedy in `q`. It adds the low-fidelity roll-outs of each.
class PilotStudy {
 public:
  // `pair` must outlive it.
  PilotStudy(const Fidelities& pair, const QTable& q, const PilotOptions& options);

  // Throws Errc::simulator if the episode or a roll-out is not valid. `number` counts training
  // episodes from 0.
  void add(std::uint32_t number, const Episode& high);
  const Pilot& pilot() const { return pilot_; }
  // For callers that run the episodes themselves.
  void count_high_seconds(double seconds) { pilot_.high_seconds += seconds; }

 private:
  void add_coupled_returns(std::uint32_t number, const Episode& high);
  void add_free_returns(const StreamAddress& streams, const StateAction& start);
  Horizon horizon() const { return {.gamma = options_.gamma, .max_steps = options_.max_steps}; }
  // A cut return would be compared with one that may be complete.
  bool is_left_out(const Episode& e) const {
    return e.truncated && options_.truncation == Truncation::drop;
  }

  const Fidelities& pair_;
  PilotOptions options_;
  LowPolicy low_policy_;
  FirstVisits high_visits_, low_visits_;
  Pilot pilot_;
  Episode low_, rollout_;
  std::vector<double> high_returns_, low_returns_;
  std::vector<StateAction> starts_;
};

// Runs the pilot under the policy that is epsilon-greedy in `q`; a table of zeros is the uniform
// policy. Episode k draws from the streams of the k-th training episode, so that a training whose
// first episodes follow the same policy has the same episodes. `keep_going` is called before every
// episode; when it returns false, the pilot ends early.
Pilot run_pilot(const Fidelities& pair, const QTable& q, const PilotOptions& options,
                const std::function<bool()>& keep_going);

}  // namespace hilo
