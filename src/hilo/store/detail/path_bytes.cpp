#include "hilo/store/detail/path_bytes.hpp"

#include <zlib.h>

#include <cstring>
#include <string_view>

#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr const char* kTag = "path";
constexpr const char* kVectorTag = "vector path";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kLargestRatio = 1032;  // that deflate can reach

[[noreturn]] void fail() { throw Error(Errc::data, "the path of an episode cannot be read"); }

std::vector<std::byte> archive_of(const PaidEpisode& paid) {
  if (paid.vectors) {
    ArchiveWriter out(kVectorTag, kVersion);
    out.value(paid.vectors->observation_size);
    out.value(paid.vectors->action_size);
    out.array<double>(paid.vectors->observations);
    out.array<double>(paid.vectors->actions);
    out.array<double>(paid.vectors->rewards);
    out.value(static_cast<std::uint8_t>(paid.vectors->truncated ? 1 : 0));
    out.value(paid.discounted_return);
    return out.finish();
  }
  ArchiveWriter out(kTag, kVersion);
  out.array<State>(paid.path.states);
  out.array<Action>(paid.path.actions);
  out.array<double>(paid.path.rewards);
  out.value(static_cast<std::uint8_t>(paid.path.truncated ? 1 : 0));
  out.array<double>(paid.probabilities);
  out.value(paid.discounted_return);
  return out.finish();
}

PaidEpisode table_path(std::span<const std::byte> archive) {
  ArchiveReader in(archive, kTag, kVersion);
  PaidEpisode paid;
  paid.path.states = in.list<State>("states", kAnyLength);
  paid.path.actions = in.list<Action>("actions", kAnyLength);
  paid.path.rewards = in.list<double>("rewards", kAnyLength);
  paid.path.truncated = in.flag("truncation");
  paid.probabilities = in.list<double>("probabilities", kAnyLength);
  paid.discounted_return = in.value<double>();
  in.finish();
  const std::size_t length = paid.path.length();
  if (paid.path.states.size() != length + 1 || paid.path.rewards.size() != length ||
      paid.probabilities.size() != length)
    fail();
  return paid;
}

PaidEpisode vector_path(std::span<const std::byte> archive) {
  ArchiveReader in(archive, kVectorTag, kVersion);
  PaidEpisode paid;
  VectorPath path;
  path.observation_size = in.value<std::uint64_t>();
  path.action_size = in.value<std::uint64_t>();
  path.observations = in.list<double>("observations", kAnyLength);
  path.actions = in.list<double>("actions", kAnyLength);
  path.rewards = in.list<double>("rewards", kAnyLength);
  path.truncated = in.flag("truncation");
  paid.discounted_return = in.value<double>();
  in.finish();
  const std::uint64_t length = path.length();
  const auto holds = [](std::size_t count, std::uint64_t size, std::uint64_t points) {
    return size > 0 && count % size == 0 && count / size == points;
  };
  if (!holds(path.observations.size(), path.observation_size, length + 1) ||
      (length > 0 && !holds(path.actions.size(), path.action_size, length)))
    fail();
  paid.vectors = std::move(path);
  return paid;
}

// An archive begins with its tag, which is a text: its length and its characters.
bool has_tag(std::span<const std::byte> archive, std::string_view tag) {
  std::uint64_t size = 0;
  if (archive.size() < sizeof(size) + tag.size()) return false;
  std::memcpy(&size, archive.data(), sizeof(size));
  return size == tag.size() &&
         std::memcmp(archive.data() + sizeof(size), tag.data(), tag.size()) == 0;
}

}  // namespace

std::vector<std::byte> pack(const PaidEpisode& paid) {
  const std::vector<std::byte> plain = archive_of(paid);
  const auto size = static_cast<std::uint64_t>(plain.size());
  std::vector<std::byte> bytes(sizeof(size) + compressBound(plain.size()));
  std::memcpy(bytes.data(), &size, sizeof(size));
  uLongf packed = bytes.size() - sizeof(size);
  if (compress2(reinterpret_cast<Bytef*>(bytes.data() + sizeof(size)), &packed,
                reinterpret_cast<const Bytef*>(plain.data()), plain.size(), Z_BEST_SPEED) != Z_OK)
    throw Error(Errc::io, "an episode cannot be compressed");
  bytes.resize(sizeof(size) + packed);
  return bytes;
}

PaidEpisode unpack(std::span<const std::byte> bytes) {
  std::uint64_t size = 0;
  if (bytes.size() < sizeof(size)) fail();
  std::memcpy(&size, bytes.data(), sizeof(size));
  bytes = bytes.subspan(sizeof(size));
  if (size / kLargestRatio > bytes.size()) fail();
  std::vector<std::byte> plain(static_cast<std::size_t>(size));
  uLongf unpacked = plain.size();
  if (uncompress(reinterpret_cast<Bytef*>(plain.data()), &unpacked,
                 reinterpret_cast<const Bytef*>(bytes.data()),
                 static_cast<uLong>(bytes.size())) != Z_OK ||
      unpacked != size)
    fail();
  return has_tag(plain, kVectorTag) ? vector_path(plain) : table_path(plain);
}

}  // namespace hilo
