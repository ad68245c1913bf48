#include "hilo/store/detail/path_bytes.hpp"

#include <zlib.h>

#include <cstring>

#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr const char* kTag = "path";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kLargestRatio = 1032;  // that deflate can reach

[[noreturn]] void fail() { throw Error(Errc::data, "the path of an episode cannot be read"); }

}  // namespace

std::vector<std::byte> pack(const PaidEpisode& paid) {
  ArchiveWriter out(kTag, kVersion);
  out.array<State>(paid.path.states);
  out.array<Action>(paid.path.actions);
  out.array<double>(paid.path.rewards);
  out.value(static_cast<std::uint8_t>(paid.path.truncated ? 1 : 0));
  out.array<double>(paid.probabilities);
  out.value(paid.discounted_return);
  const std::vector<std::byte> plain = out.finish();
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
  ArchiveReader in(plain, kTag, kVersion);
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

}  // namespace hilo
