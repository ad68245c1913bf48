#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hilo/store/sqlite.hpp"

// For the sources of this folder only: how a policy is stored.
namespace hilo {

// Little-endian doubles, deflated; `name` is that of the store, for messages.
std::vector<std::byte> compress_values(const std::vector<double>& values);
std::vector<double> expand_values(const std::vector<std::byte>& bytes, std::size_t count,
                                  const std::string& name);

// A Q table with the standard errors of its values, where there are any.
struct PolicyTable {
  std::uint64_t num_states = 0, num_actions = 0;
  std::vector<double> q, standard_errors;
  bool operator==(const PolicyTable&) const = default;
};

// Nothing if the run left no policy.
std::optional<PolicyTable> read_policy(Database& db, std::int64_t run, const std::string& name);

}  // namespace hilo
