#include "hilo/env/table_vectors.hpp"

#include "hilo/core/error.hpp"

namespace hilo {

TableVectors::TableVectors(std::shared_ptr<const EpisodeSimulator> table)
    : VectorSimulator(table->observation_space(), table->action_space()),
      table_(std::move(table)),
      steps_(dynamic_cast<const Simulator*>(table_.get())) {}

// The same words for actions and for the simulator as in its own episodes.
void TableVectors::run_steps(const Policy& policy, const StreamAddress& streams,
                             const Horizon& horizon, VectorEpisode& episode) const {
  if (steps_ == nullptr)
    throw Error(Errc::usage,
                "this simulator only gives whole episodes, for which a policy must be a table");
  State s = steps_->reset(streams);
  episode.clear();
  episode.observations.push_back(std::uint64_t{s});
  Points seen(observation_space()), chosen(action_space());
  for (std::uint32_t t = 0; t < horizon.max_steps; ++t) {
    if (steps_->is_terminal(s)) return;
    Rng rng = Rng::of_step(streams.stream(), streams.first_step + t + 1);
    const ActionWords words = draw_action_words(rng);
    seen.clear();
    seen.push_back(std::uint64_t{s});
    policy.act(seen, {&words, 1}, chosen);
    if (chosen.size() != 1)
      throw Error(Errc::usage, "a policy must give one action for each observation");
    require_in_space(action_space(), chosen[0], "the action of the policy");
    StreamAddress at = streams;
    at.first_step += t;
    const Step step =
        steps_->step({.state = s, .action = static_cast<Action>(chosen[0].index())}, at);
    episode.actions.push_back(chosen[0]);
    episode.rewards.push_back(step.reward);
    episode.observations.push_back(std::uint64_t{step.next});
    s = step.next;
    if (step.done) return;
  }
  episode.truncated = true;
}

void TableVectors::run_episode(const Policy& policy, const StreamAddress& streams,
                               const Horizon& horizon, VectorEpisode& episode) const {
  check(policy, streams, horizon, 1);
  const PolicyPath path(policy, streams.stream().block(streams.first_step << 8)[0] >> 1);
  const Behaviour* behaviour = policy.table();
  if (behaviour == nullptr) return run_steps(policy, streams, horizon, episode);
  Episode played;
  table_->run_episode(*behaviour, streams, horizon, played);
  episode.clear();
  for (const State s : played.states) episode.observations.push_back(std::uint64_t{s});
  for (const Action a : played.actions) episode.actions.push_back(std::uint64_t{a});
  episode.rewards = played.rewards;
  episode.truncated = played.truncated;
  episode.cost = played.cost;
}

void TableVectors::run_episodes(const Policy& policy, const StreamAddress& streams,
                                const Horizon& horizon, std::span<RolloutSummary> summaries) const {
  check(policy, streams, horizon, summaries.size());
  if (const Behaviour* behaviour = policy.table()) {
    table_->run_episodes(*behaviour, streams, horizon, summaries);
    return;
  }
  VectorEpisode episode(*this);
  StreamAddress at = streams;
  for (RolloutSummary& summary : summaries) {
    run_episode(policy, at, horizon, episode);
    summary = summarise(episode, horizon.gamma);
    ++at.first_rollout;
  }
}

}  // namespace hilo
