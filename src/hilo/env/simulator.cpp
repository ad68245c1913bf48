#include "hilo/env/simulator.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"

namespace hilo {

void check_batch(const RolloutBatch& batch, std::size_t num_states, std::size_t num_actions,
                 std::size_t num_pairs, std::size_t num_rollouts) {
  if (batch.behaviour.heads.size() != num_states || batch.behaviour.num_actions != num_actions)
    throw Error(
        Errc::usage,
        fmt::format("a behaviour of {} states and {} actions does not fit a simulator of {} "
                    "and {}",
                    batch.behaviour.heads.size(), batch.behaviour.num_actions, num_states,
                    num_actions));
  require_within("epsilon", batch.behaviour.epsilon, 0, 1, Errc::usage);
  require_within("gamma", batch.gamma, 0, 1, Errc::usage);
  require_within("max_steps", std::uint64_t{batch.max_steps}, 1, kMaxSteps, Errc::usage);
  require_within("first_step", std::uint64_t{batch.first_step}, 0, kMaxSteps - batch.max_steps,
                 Errc::usage);
  require_within("number of pairs", batch.first_pair + num_pairs, 0, kMaxPairs, Errc::usage);
  require_within("number of roll-outs", batch.first_rollout + num_rollouts, 0, 0xffffffffU,
                 Errc::usage);
}

void Simulator::record_paths(const RolloutBatch& batch, std::span<const StateAction> starts,
                             PathVisitor& visitor) const {
  RolloutBatch one = batch;
  Episode path;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    one.first_pair = batch.first_pair + static_cast<std::uint32_t>(i);
    one.first_rollout = batch.first_rollout;
    for (; visitor.wanted(i) > 0; ++one.first_rollout) {
      record(one, starts[i], path);
      visitor.see(i, path);
    }
  }
}

}  // namespace hilo
