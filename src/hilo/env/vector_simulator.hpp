#pragma once

#include <vector>

#include "hilo/env/episode.hpp"
#include "hilo/env/policy.hpp"
#include "hilo/env/streams.hpp"

namespace hilo {

// The domain of vectors: observations and actions are points of any space, a box of R^d or things
// that are known by numbers too many for a table.

// o_0, a_0, r_1, o_1, ..., o_T. Buffers are kept when it is overwritten.
struct VectorEpisode {
  explicit VectorEpisode(const AnySimulator& of)
      : observations(of.observation_space()), actions(of.action_space()) {}

  Points observations;  // length() + 1 of them
  Points actions;
  std::vector<double> rewards;
  bool truncated = false;  // cut: the last observation is not terminal

  std::size_t length() const { return rewards.size(); }
  void clear() {
    observations.clear();
    actions.clear();
    rewards.clear();
    truncated = false;
  }
};

// A simulator of that domain that gives full episodes from its start.
class VectorSimulator : public AnySimulator {
 public:
  // As EpisodeSimulator has them. Throws Errc::usage unless the policy has the same spaces, and
  // Errc::simulator where an observation or an action is not in its space or a reward is no number.
  virtual void run_episode(const Policy& policy, const StreamAddress& streams,
                           const Horizon& horizon, VectorEpisode& episode) const = 0;
  virtual void run_episodes(const Policy& policy, const StreamAddress& streams,
                            const Horizon& horizon, std::span<RolloutSummary> summaries) const = 0;

 protected:
  using AnySimulator::AnySimulator;

  void check(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
             std::size_t num_rollouts) const;
  // Of an episode: its last action, reward and observation.
  void check_step(const VectorEpisode& episode) const;
};

RolloutSummary summarise(const VectorEpisode& episode, double gamma);

}  // namespace hilo
