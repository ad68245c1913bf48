#include "hilo/diagnose/pilot.hpp"

#include "hilo/core/error.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/policy/low_policy.hpp"
#include "hilo/rollout/check_episode.hpp"
#include "hilo/rollout/first_visits.hpp"
#include "hilo/rollout/returns.hpp"
#include "hilo/rollout/shadow.hpp"

namespace hilo {
Pilot run_pilot(const Fidelities& pair, const QTable& q, const PilotOptions& options,
                const std::function<bool()>& keep_going) {
  require_within("pilot episodes", std::uint64_t{options.episodes}, 1, 10'000'000, Errc::usage);
  require_within("low_rollouts", std::uint64_t{options.low_rollouts}, 1, 1'000'000, Errc::usage);
  const std::size_t num_actions = pair.num_actions();
  LowPolicy low_policy(pair.map(), num_actions);
  low_policy.update_all(pair.map(), q);
  FirstVisits high_visits(pair.high().num_states(), num_actions);
  FirstVisits low_visits(pair.low().num_states(), num_actions);
  Pilot pilot;
  pilot.num_actions = num_actions;
  pilot.low_rollouts = options.low_rollouts;
  pilot.free.resize(pair.low().num_states() * num_actions);
  const Horizon horizon = {.gamma = options.gamma, .max_steps = options.max_steps};
  Episode high, low, rollout;
  std::vector<double> high_returns, low_returns, free_returns;
  std::vector<StateAction> starts;

  for (std::uint32_t k = 0; k < options.episodes && keep_going(); ++k) {
    StreamAddress streams = {.seed = options.seed, .purpose = Purpose::high_episode, .episode = k};
    {
      const Stopwatch watch(pilot.high_seconds);
      pair.high().run_episode(q.behaviour(options.epsilon), streams, horizon, high);
    }
    check_episode(high, pair.high().num_states(), num_actions);
    shadow(pair, high, low);
    discounted_returns(high.rewards, options.gamma, high_returns);
    discounted_returns(low.rewards, options.gamma, low_returns);
    // A cut return would be compared with one that may be complete.
    const bool drop = options.truncation == Truncation::drop;
    if (!(high.truncated && drop))
      for (const std::uint32_t t : high_visits.find(high))
        pilot.returns.push_back(
            {static_cast<std::uint32_t>(high.states[t] * num_actions + high.actions[t]), k,
             high_returns[t], low_returns[t]});
    pilot.high_steps += high.length();
    pilot.truncated += high.truncated ? 1 : 0;
    ++pilot.episodes;

    starts.clear();
    for (const std::uint32_t t : low_visits.find(low))
      starts.push_back({low.states[t], low.actions[t]});
    streams.purpose = Purpose::low_rollout;
    for (std::uint32_t i = 0; i < starts.size(); ++i)
      for (std::uint32_t j = 0; j < options.low_rollouts; ++j) {
        streams.first_pair = i;
        streams.first_rollout = j;
        {
          const Stopwatch watch(pilot.low_seconds);
          pair.low().record(low_policy.q().behaviour(options.epsilon), streams, horizon, starts[i],
                            rollout);
        }
        check_episode(rollout, pair.low().num_states(), num_actions);
        discounted_returns(rollout.rewards, options.gamma, free_returns);
        if (!(rollout.truncated && drop))
          for (const std::uint32_t t : low_visits.find(rollout)) {
            pilot.free[rollout.states[t] * num_actions + rollout.actions[t]].add(free_returns[t]);
            ++pilot.free_returns;
          }
        pilot.low_steps += rollout.length();
        pilot.truncated += rollout.truncated ? 1 : 0;
      }
  }
  return pilot;
}

}  // namespace hilo
