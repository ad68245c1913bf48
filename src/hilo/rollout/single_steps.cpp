#include "hilo/rollout/single_steps.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"
#include "hilo/rollout/shadow.hpp"

namespace hilo {

SingleSteps::SingleSteps(const Simulator& simulator) : heads_(simulator.num_states(), {1, 0}) {}

Step SingleSteps::sample(const Simulator& simulator, StateAction start, const StepStream& stream) {
  const Behaviour none = {.heads = heads_,
                          .ties = {&no_tie_, 1},
                          .num_actions = static_cast<std::uint32_t>(simulator.num_actions()),
                          .epsilon = 0};
  simulator.record({.behaviour = none,
                    .seed = stream.seed,
                    .purpose = stream.purpose,
                    .episode = stream.episode,
                    .first_pair = stream.pair,
                    .first_rollout = stream.rollout,
                    .max_steps = 1},
                   start, path_);
  check_episode(path_, simulator.num_states(), simulator.num_actions());
  check_started_at(path_, start);
  if (path_.length() != 1)
    throw Error(Errc::simulator,
                fmt::format("low fidelity: asked for one step, it made {}", path_.length()));
  // A path of one step that was cut did not end.
  return {.next = path_.states[1], .reward = path_.rewards[0], .done = !path_.truncated};
}

}  // namespace hilo
