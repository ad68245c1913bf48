#pragma once

#include <optional>
#include <vector>

#include "hilo/env/episode.hpp"
#include "hilo/env/policy.hpp"
#include "hilo/env/streams.hpp"

namespace hilo {

// The domain of vectors: observations and actions are points of any space, either a box of R^d or a
// discrete space that may be too large for a table.

// o_0, a_0, r_1, o_1, ..., o_T. Buffers are kept when it is overwritten.
struct VectorEpisode {
  explicit VectorEpisode(const AnySimulator& of)
      : observations(of.observation_space()), actions(of.action_space()) {}

  Points observations;  // length() + 1 of them
  Points actions;
  std::vector<double> rewards;
  bool truncated = false;                    // cut: the last observation is not terminal
  std::optional<double> cost = {};           // that the simulator reported, if it did
  std::optional<std::uint32_t> number = {};  // of its random streams, if they are known

  std::size_t length() const { return rewards.size(); }
  void clear() {
    observations.clear();
    actions.clear();
    rewards.clear();
    truncated = false;
    cost.reset();
    number.reset();
  }
};

// A simulator of this domain, which runs full episodes from its start distribution.
class VectorSimulator : public AnySimulator {
 public:
  // The same as in EpisodeSimulator. They throw Errc::usage unless the policy has the same spaces,
  // and Errc::simulator if an observation or an action is not in its space or a reward is not
  // finite.
  virtual void run_episode(const Policy& policy, const StreamAddress& streams,
                           const Horizon& horizon, VectorEpisode& episode) const = 0;
  virtual void run_episodes(const Policy& policy, const StreamAddress& streams,
                            const Horizon& horizon, std::span<RolloutSummary> summaries) const = 0;

  // How many episodes can run at the same time with some gain.
  virtual std::size_t num_workers() const { return 1; }

  // Steps after which it cuts an episode, if it does.
  virtual std::uint32_t time_limit() const { return kMaxSteps; }

  // Coordinates of observations that are angles, rising: they live on a circle, from -pi to pi.
  virtual std::span<const std::size_t> angles() const { return {}; }
  // The start states of roll-outs first_rollout, first_rollout + 1, ... at this address, one column
  // for each, without taking a step. Returns false if the simulator cannot do that.
  virtual bool draw_starts(const StreamAddress& /*streams*/, Columns& /*states*/) const {
    return false;
  }

 protected:
  using AnySimulator::AnySimulator;

  void check(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
             std::size_t num_rollouts) const;
  // Checks the last action, reward and observation of an episode.
  void check_step(const VectorEpisode& episode) const;
};

RolloutSummary summarise(const VectorEpisode& episode, double gamma);

}  // namespace hilo
