#include "hilo/store/policy_bytes.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <charconv>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

// "states,actions", both sensible.
bool read_shape(const std::string& text, PolicyTable& table) {
  constexpr std::uint64_t kMany = 1U << 30;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, table.num_states);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return false;
  const auto second = std::from_chars(first.ptr + 1, end, table.num_actions);
  return second.ec == std::errc() && second.ptr == end && table.num_states > 0 &&
         table.num_actions > 0 && table.num_states <= kMany &&
         table.num_actions <= kMany / table.num_states;
}

}  // namespace

std::vector<std::byte> compress_values(const std::vector<double>& values) {
  const auto* data = reinterpret_cast<const Bytef*>(values.data());
  const uLong size = values.size() * sizeof(double);
  std::vector<std::byte> out(compressBound(size));
  uLongf out_size = out.size();
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &out_size, data, size, Z_BEST_SPEED) != Z_OK)
    throw Error(Errc::io, "a policy cannot be compressed");
  out.resize(out_size);
  return out;
}

std::vector<double> expand_values(const std::vector<std::byte>& bytes, std::size_t count,
                                  const std::string& name) {
  std::vector<double> values(count);
  uLongf size = count * sizeof(double);
  const int code =
      uncompress(reinterpret_cast<Bytef*>(values.data()), &size,
                 reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()));
  if (code != Z_OK || size != count * sizeof(double))
    throw Error(Errc::data, fmt::format("{}: the store is damaged: a policy cannot be read", name));
  return values;
}

std::optional<PolicyTable> read_policy(Database& db, std::int64_t run, const std::string& name) {
  Statement row(db, "SELECT kind, shape, bytes FROM policy WHERE run = ?");
  row.bind(run);
  if (!row.step()) return std::nullopt;
  if (row.text(0) != "q-table")
    throw Error(Errc::data, fmt::format("{}: a policy is of the kind '{}', but this program reads "
                                        "q-table",
                                        name, row.text(0)));
  PolicyTable table;
  if (!read_shape(row.text(1), table))
    throw Error(Errc::data,
                fmt::format("{}: the store is damaged: a policy has no sensible size", name));
  const std::uint64_t num_pairs = table.num_states * table.num_actions;
  table.q = expand_values(row.blob(2), num_pairs, name);
  Statement errors(db, "SELECT standard_error FROM policy_error WHERE run = ?");
  errors.bind(run);
  if (errors.step()) table.standard_errors = expand_values(errors.blob(0), num_pairs, name);
  return table;
}

}  // namespace hilo
