#include "hilo/policy/artifact.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <charconv>

#include "hilo/core/error.hpp"
#include "hilo/env/environment.hpp"

namespace hilo {
namespace {

// Reads "states,actions". False unless both are positive and the table is within kMaxTableSize.
bool read_shape(const std::string& text, ValueTable& table) {
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, table.num_states);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return false;
  const auto second = std::from_chars(first.ptr + 1, end, table.num_actions);
  return second.ec == std::errc() && second.ptr == end && table.num_states > 0 &&
         table.num_actions > 0 && table.num_states <= kMaxTableSize &&
         table.num_actions <= kMaxTableSize / table.num_states;
}

}  // namespace

PolicyArtifact q_table_artifact(std::uint64_t num_states, std::uint64_t num_actions,
                                std::span<const double> values) {
  return {kQTable, fmt::format("{},{}", num_states, num_actions), deflate_values(values)};
}

ValueTable q_table_of(const PolicyArtifact& artifact) {
  if (artifact.kind != kQTable)
    throw Error(Errc::data, fmt::format("a policy is of the kind '{}', but must be a {} here",
                                        artifact.kind, kQTable));
  ValueTable table;
  if (!read_shape(artifact.shape, table)) throw Error(Errc::data, "a policy has no sensible size");
  table.values = inflate_values(artifact.bytes, table.num_states * table.num_actions);
  return table;
}

std::vector<std::byte> deflate_values(std::span<const double> values) {
  const auto* data = reinterpret_cast<const Bytef*>(values.data());
  const uLong size = values.size() * sizeof(double);
  std::vector<std::byte> out(compressBound(size));
  uLongf out_size = out.size();
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &out_size, data, size, Z_BEST_SPEED) != Z_OK)
    throw Error(Errc::io, "a policy cannot be compressed");
  out.resize(out_size);
  return out;
}

std::vector<double> inflate_values(std::span<const std::byte> bytes, std::size_t count) {
  std::vector<double> values(count);
  uLongf size = count * sizeof(double);
  const int code =
      uncompress(reinterpret_cast<Bytef*>(values.data()), &size,
                 reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()));
  if (code != Z_OK || size != count * sizeof(double))
    throw Error(Errc::data, "a policy cannot be read");
  return values;
}

}  // namespace hilo
