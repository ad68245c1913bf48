#pragma once

#include <cstdint>
#include <string_view>

#include "hilo/agent/exploration.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/env/projection.hpp"
#include "hilo/estimator/estimator.hpp"
#include "hilo/rollout/truncation.hpp"

namespace hilo {

// Which action the low-fidelity roll-outs take when they do not explore.
enum class LowBehaviour : std::uint8_t {
  policy,    // "policy": that of pi, by the sum of Q over all states that T maps to s_lo
  action_0,  // "action-0": always the first action, as in the published synthetic curves
};

// Which low-fidelity returns of an episode go into the population mean.
enum class Pool : std::uint8_t {
  start_pairs,   // "start-pairs": m roll-outs for each distinct pair, the return of the start alone
  first_visits,  // "first-visits": every first visit on a roll-out counts for its pair, and a pair
                 // is rolled out only until it has m new returns
  whole_paths,   // "whole-paths": m roll-outs for each distinct pair, and every first visit on them
                 // counts for its pair: more returns from the same steps
};

// How the low-fidelity returns that are paired with high-fidelity ones are generated.
enum class Coupling : std::uint8_t {
  path,                   // "path": low-fidelity rewards along the high-fidelity episode, as in the
                          // paper; their mean is Q_lo only if the dynamics are the same
  common_random_numbers,  // "common-random-numbers": roll-outs in the low fidelity, driven by the
                          // random numbers of the high-fidelity episode; their mean is Q_lo
  none,                   // "none": independent roll-outs, for comparison
};

// The names used in specs, as above.
LowBehaviour low_behaviour_from_name(std::string_view name);
Pool pool_from_name(std::string_view name);
Coupling coupling_from_name(std::string_view name);
std::string_view name_of(LowBehaviour low_behaviour);
std::string_view name_of(Pool pool);

// The choices in which Algorithm 1 and the published curves differ; docs/departures.md explains
// them. The projection belongs to the low fidelity and is chosen when that is built.
struct Variant {
  LowBehaviour low_policy;
  Projection projection;
  Pool pool;
  Exploration exploration;
};
inline constexpr Variant kAsWritten = {LowBehaviour::policy, Projection::simplex, Pool::start_pairs,
                                       Exploration::standard};
inline constexpr Variant kAsPublished = {LowBehaviour::action_0, Projection::bisection,
                                         Pool::first_visits, Exploration::as_published};

// "as-written" or "as-published".
Variant variant_from_name(std::string_view name);

struct MfmcrlOptions {
  double gamma = 0.99;
  double epsilon = 0.1;
  std::uint32_t low_rollouts = 10;  // m
  LowBehaviour low_policy = kAsWritten.low_policy;
  Pool pool = kAsWritten.pool;
  std::uint32_t max_steps = 10'000;          // of a low-fidelity roll-out
  Truncation truncation = Truncation::drop;  // of roll-outs that are cut by max_steps
  EstimatorOptions estimator = {};
  double recency = kEqualWeights;    // of all returns: core/moments.hpp
  std::uint64_t pilot_episodes = 0;  // number of first episodes, which follow the uniform policy
  Coupling coupling = Coupling::path;
  Exploration exploration = kAsWritten.exploration;  // in both fidelities
};

// MFMCRL+: the empirical-Bayes estimator, with old returns that fade as the policy changes and with
// every first visit of a roll-out in the pool.
MfmcrlOptions mfmcrl_plus();

}  // namespace hilo
