#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hilo/policy/artifact.hpp"
#include "hilo/store/detail/sqlite.hpp"

// For the sources of this folder only: a policy as a store holds it.
namespace hilo {

struct PolicyRows {
  PolicyArtifact artifact;
  ValueTable table;                     // only for a Q table
  std::vector<double> standard_errors;  // of the table's values; empty if the store has none
  bool operator==(const PolicyRows&) const = default;
};

// Nothing if the run has no policy. Throws if the policy cannot be read.
std::optional<PolicyRows> read_policy(Database& db, std::int64_t run);

}  // namespace hilo
