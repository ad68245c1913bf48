#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "hilo/experiment/configuration.hpp"
#include "hilo/policy/artifact.hpp"

namespace hilo {

// Identifies a run: runs with equal keys have equal results.
struct RunKey {
  std::string config;  // hash of the canonical configuration
  std::uint64_t seed = 0;
  std::uint32_t algorithm_version = 0;
  auto operator<=>(const RunKey&) const = default;
};

// One number measured in a run after `episode` training episodes. Names are those of the export,
// for example test_reward, test_return and variance_ratio at every test; policy_value and
// policy_reward at some tests; variance_ratio_last_1000, high_steps, low_steps, truncated and
// seconds at the end. If neither a model nor tests give the value of the greedy policy, own_value
// and own_value_error are recorded at the end too.
struct Measurement {
  std::uint64_t episode;
  std::string metric;
  double value;
};

struct RunRecord {
  RunKey key;
  Configuration configuration;
  bool failed = false;
  std::string error;         // if it failed,
  std::exception_ptr cause;  // and what was thrown, for callers in the same process
  std::vector<Measurement> measurements;
  PolicyArtifact policy;  // the final one
  std::vector<double>
      standard_errors;        // of a Q table, as the agent estimates them; infinite if it cannot
  std::string host, machine;  // where it ran; empty: here
};

}  // namespace hilo
