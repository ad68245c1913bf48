#include "hilo/experiment/detail/record_bytes.hpp"

#include "hilo/core/archive.hpp"

namespace hilo {
namespace {

constexpr const char* kTag = "record";
constexpr std::uint32_t kVersion = 2;

}  // namespace

std::vector<std::byte> to_bytes(const RunRecord& record) {
  ArchiveWriter out(kTag, kVersion);
  out.text(record.key.config);
  out.value(record.key.seed);
  out.value(record.key.algorithm_version);
  out.text(record.configuration.text());
  out.value(static_cast<std::uint8_t>(record.failed ? 1 : 0));
  out.text(record.error);
  out.value(static_cast<std::uint64_t>(record.measurements.size()));
  for (const Measurement& m : record.measurements) {
    out.value(m.episode);
    out.text(m.metric);
    out.value(m.value);
  }
  out.text(record.policy.kind);
  out.text(record.policy.shape);
  out.array<std::byte>(record.policy.bytes);
  out.array<double>(record.standard_errors);
  out.text(record.host);
  out.text(record.machine);
  return out.finish();
}

RunRecord record_from_bytes(std::span<const std::byte> bytes) {
  ArchiveReader in(bytes, kTag, kVersion);
  RunRecord record;
  record.key.config = in.text("configuration");
  record.key.seed = in.value<std::uint64_t>();
  record.key.algorithm_version = in.value<std::uint32_t>();
  record.configuration = Configuration::from_text(in.text("configuration"));
  record.failed = in.flag("failure");
  record.error = in.text("error");
  const auto num_measurements = in.value<std::uint64_t>();
  for (std::uint64_t i = 0; i < num_measurements; ++i) {
    const auto episode = in.value<std::uint64_t>();
    std::string metric = in.text("metric");
    record.measurements.push_back({episode, std::move(metric), in.value<double>()});
  }
  record.policy.kind = in.text("kind of policy");
  record.policy.shape = in.text("shape of a policy");
  record.policy.bytes = in.list<std::byte>("size of a policy", kAnyLength);
  record.standard_errors = in.list<double>("number of standard errors", kAnyLength);
  record.host = in.text("host");
  record.machine = in.text("machine");
  in.finish();
  return record;
}

}  // namespace hilo
