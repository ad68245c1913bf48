#include "hilo/env/bulk.hpp"

#include <fmt/format.h>

namespace hilo {

void throw_bad_reset(State s, std::size_t num_states) {
  throw Error(Errc::simulator,
              fmt::format("simulator: reset gave state {}, but must give one in [0, {}]", s,
                          num_states - 1));
}

void check_batch(const RolloutBatch& batch, std::size_t num_states, std::size_t num_actions,
                 std::size_t num_pairs, std::size_t num_rollouts) {
  if (batch.behaviour.heads.size() != num_states || batch.behaviour.num_actions != num_actions)
    throw Error(
        Errc::usage,
        fmt::format("a behaviour of {} states and {} actions does not fit a simulator of {} "
                    "and {}",
                    batch.behaviour.heads.size(), batch.behaviour.num_actions, num_states,
                    num_actions));
  require_within("max_steps", std::uint64_t{batch.max_steps}, 1, kMaxSteps, Errc::usage);
  require_within("first_step", std::uint64_t{batch.first_step}, 0, kMaxSteps - batch.max_steps,
                 Errc::usage);
  require_within("number of pairs", batch.first_pair + num_pairs, 0, kMaxPairs, Errc::usage);
  require_within("number of roll-outs", batch.first_rollout + num_rollouts, 0, 0xffffffffU,
                 Errc::usage);
}

void throw_bad_step(State s, Action a, const Step& step, std::size_t num_states) {
  if (step.next >= num_states)
    throw Error(
        Errc::simulator,
        fmt::format("simulator: state {}, action {}: next state is {}, but must be in [0, {}]", s,
                    a, step.next, num_states - 1));
  throw Error(Errc::simulator,
              fmt::format("simulator: state {}, action {}: reward is {}, but must be finite", s, a,
                          step.reward));
}

}  // namespace hilo
