#include "hilo/agent/low_learning.hpp"

#include "hilo/core/error.hpp"
#include "hilo/rollout/shadow.hpp"

namespace hilo {

void validate(const LowLearning& learning) {
  require_within("low_steps", learning.low_steps, 1, 1'000'000'000'000);
  require_within("max_steps", std::uint64_t{learning.max_steps}, 1, kMaxSteps);
}

TdValues learn_in_low_fidelity(const Simulator& low, const TdOptions& options,
                               const LowLearning& learning, std::uint64_t seed,
                               LearnReport& report) {
  TdValues values(low.num_states(), low.num_actions(), options);
  Episode episode;
  std::uint64_t steps = 0;
  for (std::uint32_t k = 0; steps < learning.low_steps; ++k) {
    low.run_episode({.behaviour = values.behaviour(),
                     .seed = seed,
                     .purpose = Purpose::preparation,
                     .episode = k,
                     .gamma = options.gamma,
                     .max_steps = learning.max_steps},
                    episode);
    check_episode(episode, low.num_states(), low.num_actions());
    if (episode.length() == 0)
      throw Error(Errc::simulator, "the low fidelity gave an episode without a step");
    values.q_learning(episode);
    steps += episode.length();
    report.truncated_rollouts += episode.truncated ? 1 : 0;
  }
  report.low_steps += steps;
  return values;
}

void lift(const QTable& low, const StateMap& map, double updates, TdValues& values) {
  for (State s = 0; s < map.num_high_states(); ++s)
    for (Action a = 0; a < low.num_actions(); ++a)
      values.start_at(s, a, low(map.low_of(s), a), updates);
}

}  // namespace hilo
