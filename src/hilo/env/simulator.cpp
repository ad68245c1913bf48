#include "hilo/env/simulator.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"

namespace hilo {

void EpisodeSimulator::check(const Behaviour& policy, const StreamAddress& streams,
                             const Horizon& horizon, std::size_t num_pairs,
                             std::size_t num_rollouts) const {
  if (policy.heads.size() != num_states_ || policy.num_actions != num_actions_)
    throw Error(
        Errc::usage,
        fmt::format("a behaviour of {} states and {} actions does not fit a simulator of {} "
                    "and {}",
                    policy.heads.size(), policy.num_actions, num_states_, num_actions_));
  require_within("epsilon", policy.epsilon, 0, 1, Errc::usage);
  check_streams(streams, horizon, num_pairs, num_rollouts);
}

void Simulator::record_paths(const Behaviour& policy, const StreamAddress& streams,
                             const Horizon& horizon, std::span<const StateAction> starts,
                             PathVisitor& visitor) const {
  StreamAddress one = streams;
  Episode path;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    one.first_pair = streams.first_pair + static_cast<std::uint32_t>(i);
    one.first_rollout = streams.first_rollout;
    for (; visitor.wanted(i) > 0; ++one.first_rollout) {
      record(policy, one, horizon, starts[i], path);
      visitor.see(i, path);
    }
  }
}

void Simulator::check_start(StateAction start) const {
  require_within("start state", std::uint64_t{start.state}, 0, num_states() - 1, Errc::usage);
  require_within("start action", std::uint64_t{start.action}, 0, num_actions() - 1, Errc::usage);
}

void Simulator::check_step(StateAction at, const StreamAddress& streams) const {
  check_start(at);
  check_streams(streams, {.max_steps = 1}, 1, 1);
  if (is_terminal(at.state))
    throw Error(Errc::usage,
                fmt::format("state {} is terminal, so that there is no step from it", at.state));
}

void Simulator::check_starts(std::span<const StateAction> starts, std::uint32_t rollouts,
                             std::span<const RolloutSummary> summaries) const {
  if (summaries.size() != starts.size() * rollouts)
    throw Error(Errc::usage, "roll_out needs one summary for each start and roll-out");
  for (const StateAction start : starts) check_start(start);
}

}  // namespace hilo
