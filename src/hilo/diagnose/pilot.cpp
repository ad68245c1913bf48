#include "hilo/diagnose/pilot.hpp"

#include "hilo/core/error.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/rollout/check_episode.hpp"
#include "hilo/rollout/returns.hpp"
#include "hilo/rollout/shadow.hpp"

namespace hilo {

PilotStudy::PilotStudy(const Fidelities& pair, const QTable& q, const PilotOptions& options)
    : pair_(pair),
      options_(options),
      low_policy_(pair.map(), pair.num_actions()),
      high_visits_(pair.high().num_states(), pair.num_actions()),
      low_visits_(pair.low().num_states(), pair.num_actions()) {
  require_within("low_rollouts", std::uint64_t{options.low_rollouts}, 1, 1'000'000, Errc::usage);
  low_policy_.update_all(pair.map(), q);
  pilot_.num_actions = pair.num_actions();
  pilot_.low_rollouts = options.low_rollouts;
  pilot_.free.resize(pair.low().num_states() * pair.num_actions());
}

void PilotStudy::add(std::uint32_t number, const Episode& high) {
  check_episode(high, pair_.high().num_states(), pair_.num_actions());
  shadow(pair_, high, low_);
  add_coupled_returns(number, high);
  starts_.clear();
  for (const std::uint32_t t : low_visits_.find(low_))
    starts_.push_back({low_.states[t], low_.actions[t]});
  StreamAddress streams = {
      .seed = options_.seed, .purpose = Purpose::low_rollout, .episode = number};
  for (std::uint32_t i = 0; i < starts_.size(); ++i) {
    streams.first_pair = i;
    add_free_returns(streams, starts_[i]);
  }
}

void PilotStudy::add_coupled_returns(std::uint32_t number, const Episode& high) {
  discounted_returns(high.rewards, options_.gamma, high_returns_);
  discounted_returns(low_.rewards, options_.gamma, low_returns_);
  if (!is_left_out(high))
    for (const std::uint32_t t : high_visits_.find(high))
      pilot_.returns.push_back(
          {static_cast<std::uint32_t>(high.states[t] * pilot_.num_actions + high.actions[t]),
           number, high_returns_[t], low_returns_[t]});
  pilot_.high_steps += high.length();
  pilot_.truncated += high.truncated ? 1 : 0;
  ++pilot_.episodes;
}

void PilotStudy::add_free_returns(const StreamAddress& streams, const StateAction& start) {
  StreamAddress address = streams;
  for (std::uint32_t j = 0; j < options_.low_rollouts; ++j) {
    address.first_rollout = j;
    {
      const Stopwatch watch(pilot_.low_seconds);
      pair_.low().record(low_policy_.q().behaviour(options_.epsilon), address, horizon(), start,
                         rollout_);
    }
    check_episode(rollout_, pair_.low().num_states(), pair_.num_actions());
    discounted_returns(rollout_.rewards, options_.gamma, low_returns_);
    if (!is_left_out(rollout_))
      for (const std::uint32_t t : low_visits_.find(rollout_)) {
        pilot_.free[rollout_.states[t] * pilot_.num_actions + rollout_.actions[t]].add(
            low_returns_[t]);
        ++pilot_.free_returns;
      }
    pilot_.low_steps += rollout_.length();
    pilot_.truncated += rollout_.truncated ? 1 : 0;
  }
}

Pilot run_pilot(const Fidelities& pair, const QTable& q, const PilotOptions& options,
                const std::function<bool()>& keep_going) {
  require_within("pilot episodes", std::uint64_t{options.episodes}, 1, 10'000'000, Errc::usage);
  PilotStudy study(pair, q, options);
  Episode high;
  for (std::uint32_t k = 0; k < options.episodes && keep_going(); ++k) {
    double seconds = 0;
    {
      const Stopwatch watch(seconds);
      pair.high().run_episode(
          q.behaviour(options.epsilon),
          {.seed = options.seed, .purpose = Purpose::high_episode, .episode = k},
          {.gamma = options.gamma, .max_steps = options.max_steps}, high);
    }
    study.count_high_seconds(seconds);
    study.add(k, high);
  }
  return study.pilot();
}

}  // namespace hilo
