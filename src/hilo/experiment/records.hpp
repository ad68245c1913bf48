#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "hilo/policy/artifact.hpp"

namespace hilo {

// What a run is known by: equal keys have equal results.
struct RunKey {
  std::string config;  // hash of the canonical configuration
  std::uint64_t seed = 0;
  std::uint32_t algorithm_version = 0;
  auto operator<=>(const RunKey&) const = default;
};

// One number measured in a run after so many training episodes. Names are those of the export:
// test_reward, test_return, variance_ratio at every test; policy_value, policy_reward at some;
// variance_ratio_last_1000, high_steps, low_steps, truncated, seconds at the end; own_value and
// own_value_error there too, where neither a model nor tests say what the greedy policy is worth.
struct Measurement {
  std::uint64_t episode;
  std::string metric;
  double value;
};

struct RunRecord {
  RunKey key;
  std::string canonical;  // the configuration itself
  bool failed = false;
  std::string error;         // if it failed,
  std::exception_ptr cause;  // and what was thrown, for callers in the same process
  std::vector<Measurement> measurements;
  PolicyArtifact policy;  // the final one
  std::vector<double>
      standard_errors;        // of a Q table, as the agent judges; infinite where it cannot
  std::string host, machine;  // where it ran; empty: here
};

}  // namespace hilo
