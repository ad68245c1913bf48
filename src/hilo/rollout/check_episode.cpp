#include "hilo/rollout/check_episode.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {

void check_episode(const Episode& episode, std::size_t num_states, std::size_t num_actions) {
  if (episode.states.size() != episode.length() + 1 || episode.rewards.size() != episode.length())
    throw Error(Errc::simulator,
                fmt::format("an episode has {} states, {} actions and {} rewards, but must have "
                            "n + 1, n and n",
                            episode.states.size(), episode.length(), episode.rewards.size()));
  // A fast check comes first, as nearly all episodes are valid.
  bool right = true;
  for (const State s : episode.states) right &= s < num_states;
  for (const Action a : episode.actions) right &= a < num_actions;
  for (const double r : episode.rewards) right &= std::isfinite(r);
  if (right) return;
  for (const State s : episode.states)
    require_within("state of an episode", std::uint64_t{s}, 0, num_states - 1, Errc::simulator);
  for (const Action a : episode.actions)
    require_within("action of an episode", std::uint64_t{a}, 0, num_actions - 1, Errc::simulator);
  for (const double r : episode.rewards)
    if (!std::isfinite(r))
      throw Error(Errc::simulator,
                  fmt::format("reward of an episode is {}, but must be finite", r));
}

void check_started_at(const Episode& rollout, StateAction start) {
  if (rollout.length() == 0 || rollout.states[0] != start.state ||
      rollout.actions[0] != start.action)
    throw Error(Errc::simulator,
                fmt::format("low fidelity: asked to start at state {}, action {}, it started "
                            "elsewhere",
                            start.state, start.action));
}

}  // namespace hilo
