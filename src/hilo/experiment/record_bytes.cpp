#include "hilo/experiment/record_bytes.hpp"

#include <limits>

#include "hilo/core/archive.hpp"

namespace hilo {
namespace {

constexpr const char* kTag = "record";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();

void put(ArchiveWriter& out, const std::string& text) { out.array<char>(text); }

std::string take_text(ArchiveReader& in, std::string_view what) {
  const auto characters = in.list<char>(what, kAnySize);
  return {characters.begin(), characters.end()};
}

}  // namespace

std::vector<std::byte> to_bytes(const RunRecord& record) {
  ArchiveWriter out(kTag, kVersion);
  put(out, record.key.config);
  out.value(record.key.seed);
  out.value(record.key.algorithm_version);
  put(out, record.canonical);
  out.value(static_cast<std::uint8_t>(record.failed ? 1 : 0));
  put(out, record.error);
  out.value(static_cast<std::uint64_t>(record.measurements.size()));
  for (const Measurement& m : record.measurements) {
    out.value(m.episode);
    put(out, m.metric);
    out.value(m.value);
  }
  out.value(record.num_states);
  out.value(record.num_actions);
  out.array<double>(record.q);
  out.array<double>(record.standard_errors);
  put(out, record.host);
  put(out, record.machine);
  return out.finish();
}

RunRecord record_from_bytes(std::span<const std::byte> bytes) {
  ArchiveReader in(bytes, kTag, kVersion);
  RunRecord record;
  record.key.config = take_text(in, "configuration");
  record.key.seed = in.value<std::uint64_t>();
  record.key.algorithm_version = in.value<std::uint32_t>();
  record.canonical = take_text(in, "canonical configuration");
  record.failed = in.flag("failure");
  record.error = take_text(in, "error");
  const auto num_measurements = in.value<std::uint64_t>();
  for (std::uint64_t i = 0; i < num_measurements; ++i) {
    const auto episode = in.value<std::uint64_t>();
    std::string metric = take_text(in, "metric");
    record.measurements.push_back({episode, std::move(metric), in.value<double>()});
  }
  record.num_states = in.value<std::uint64_t>();
  record.num_actions = in.value<std::uint64_t>();
  record.q = in.list<double>("number of values", kAnySize);
  record.standard_errors = in.list<double>("number of standard errors", kAnySize);
  record.host = take_text(in, "host");
  record.machine = take_text(in, "machine");
  in.finish();
  return record;
}

}  // namespace hilo
