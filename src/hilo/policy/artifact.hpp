#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hilo {

// A policy as it is stored, in the format that `kind` names. For "q-table", `shape` is
// "states,actions" and `bytes` holds states * actions doubles, little-endian, deflated by zlib.
struct PolicyArtifact {
  std::string kind, shape;
  std::vector<std::byte> bytes;

  bool empty() const { return kind.empty(); }
  bool operator==(const PolicyArtifact&) const = default;
};

// A table of values, [s * num_actions + a].
struct ValueTable {
  std::uint64_t num_states = 0, num_actions = 0;
  std::vector<double> values;
  bool operator==(const ValueTable&) const = default;
};

inline constexpr const char* kQTable = "q-table";

PolicyArtifact q_table_artifact(std::uint64_t num_states, std::uint64_t num_actions,
                                std::span<const double> values);
// Throws Errc::data unless it is a valid Q table.
ValueTable q_table_of(const PolicyArtifact& artifact);

// Convert doubles to deflated little-endian bytes and back. Reading needs the count of the doubles
// and throws Errc::data if the bytes do not hold exactly that many.
std::vector<std::byte> deflate_values(std::span<const double> values);
std::vector<double> inflate_values(std::span<const std::byte> bytes, std::size_t count);

}  // namespace hilo
