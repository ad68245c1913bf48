#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hilo/policy/artifact.hpp"
#include "hilo/store/detail/sqlite.hpp"

// For the sources of this folder only: a policy as it stands in a store.
namespace hilo {

struct PolicyRows {
  PolicyArtifact artifact;
  ValueTable table;                     // of a Q table
  std::vector<double> standard_errors;  // of its values, where there are any
  bool operator==(const PolicyRows&) const = default;
};

// Nothing if the run left no policy. Throws if it cannot be read.
std::optional<PolicyRows> read_policy(Database& db, std::int64_t run);

}  // namespace hilo
