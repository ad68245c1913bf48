#include "hilo/driver/detail/learn_checkpoint.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>

#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr const char* kTag = "learn";
constexpr std::uint32_t kVersion = 2;
constexpr double kLongest = 50;  // smallest interval, as a multiple of the time to write

}  // namespace

std::optional<LearnCheckpoint> LearnCheckpointFile::find() const try {
  std::ifstream in(file_, std::ios::binary);
  if (!in) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  ArchiveReader reader(std::as_bytes(std::span(text)), kTag, kVersion);
  LearnCheckpoint checkpoint;
  checkpoint.identity = reader.text("identity");
  checkpoint.seed = reader.value<std::uint64_t>();
  checkpoint.episodes = reader.value<std::uint64_t>();
  checkpoint.digest = reader.value<std::int64_t>();
  checkpoint.run = reader.list<std::byte>("run", kAnyLength);
  const auto count = reader.value<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto episode = reader.value<std::uint64_t>();
    std::string metric = reader.text("finding");
    checkpoint.findings.push_back({episode, std::move(metric), reader.value<double>()});
  }
  checkpoint.budget = reader.text("budget");
  checkpoint.training_until = reader.value<std::uint64_t>();
  checkpoint.training_closed = reader.value<std::uint8_t>() != 0;
  checkpoint.failed_in_a_row = reader.value<std::uint64_t>();
  const auto ahead = reader.value<std::uint64_t>();
  for (std::uint64_t i = 0; i < ahead; ++i) {
    const auto episode = reader.value<std::uint64_t>();
    const auto cost = reader.value<double>();
    checkpoint.allowed.push_back({episode, {cost, reader.value<double>()}});
  }
  reader.finish();
  return checkpoint;
} catch (const Error&) {
  return std::nullopt;
}

void LearnCheckpointFile::keep(bool now, const std::function<LearnCheckpoint()>& make) {
  if (!now && seconds_since(last_) < std::max(every_, took_ * kLongest)) return;
  const SteadyClock::time_point start = SteadyClock::now();
  try {
    const LearnCheckpoint checkpoint = make();
    ArchiveWriter writer(kTag, kVersion);
    writer.text(checkpoint.identity);
    writer.value(checkpoint.seed);
    writer.value(checkpoint.episodes);
    writer.value(checkpoint.digest);
    writer.array<std::byte>(checkpoint.run);
    writer.value(static_cast<std::uint64_t>(checkpoint.findings.size()));
    for (const Measurement& m : checkpoint.findings) {
      writer.value(m.episode);
      writer.text(m.metric);
      writer.value(m.value);
    }
    writer.text(checkpoint.budget);
    writer.value(checkpoint.training_until);
    writer.value(static_cast<std::uint8_t>(checkpoint.training_closed));
    writer.value(checkpoint.failed_in_a_row);
    writer.value(static_cast<std::uint64_t>(checkpoint.allowed.size()));
    for (const auto& [episode, before] : checkpoint.allowed) {
      writer.value(episode);
      writer.value(before.cost);
      writer.value(before.steps);
    }
    const std::vector<std::byte> bytes = writer.finish();
    const std::filesystem::path part = file_.string() + ".part";
    std::error_code failed;
    {
      std::ofstream out(part, std::ios::binary | std::ios::trunc);
      out.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
      out.close();
      if (!out) {
        std::filesystem::remove(part, failed);
        return;
      }
    }
    std::filesystem::rename(part, file_, failed);
  } catch (const std::exception&) {
    // For example, there is not enough memory. The run must not fail because of that.
  }
  took_ = seconds_since(start);
  last_ = SteadyClock::now();
}

}  // namespace hilo
