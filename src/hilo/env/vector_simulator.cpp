#include "hilo/env/vector_simulator.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {

void VectorSimulator::check(const Policy& policy, const StreamAddress& streams,
                            const Horizon& horizon, std::size_t num_rollouts) const {
  if (!(policy.observation_space() == observation_space()) ||
      !(policy.action_space() == action_space()))
    throw Error(Errc::usage,
                fmt::format("a policy whose observation is {} and whose action is {} does not fit "
                            "a simulator with {} and {}",
                            policy.observation_space().describe(), policy.action_space().describe(),
                            observation_space().describe(), action_space().describe()));
  check_streams(streams, horizon, 1, num_rollouts);
}

void VectorSimulator::check_step(const VectorEpisode& episode) const {
  if (episode.actions.size() > 0)
    require_in_space(action_space(), episode.actions[episode.actions.size() - 1], "the action");
  require_in_space(observation_space(), episode.observations[episode.observations.size() - 1],
                   "the observation");
  if (!episode.rewards.empty() && !std::isfinite(episode.rewards.back()))
    throw Error(Errc::simulator,
                fmt::format("step {}: the reward is {}, but must be a finite number",
                            episode.length() - 1, episode.rewards.back()));
}

RolloutSummary summarise(const VectorEpisode& episode, double gamma) {
  RolloutSummary summary;
  double discount = 1;
  for (const double reward : episode.rewards) {
    summary.discounted_return += discount * reward;
    discount *= gamma;
    summary.reward_sum += reward;
    ++summary.steps;
  }
  summary.truncated = episode.truncated;
  return summary;
}

}  // namespace hilo
