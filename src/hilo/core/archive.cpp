#include "hilo/core/archive.hpp"

#include <fmt/format.h>

#include "hilo/core/error.hpp"
#include "hilo/core/hash.hpp"

namespace hilo {
ArchiveWriter::ArchiveWriter(std::string_view tag, std::uint32_t version) {
  value(static_cast<std::uint64_t>(tag.size()));
  append(tag.data(), tag.size());
  value(version);
}

void ArchiveWriter::append(const void* data, std::size_t size) {
  if (size == 0) return;
  bytes_.resize(bytes_.size() + size);
  std::memcpy(bytes_.data() + bytes_.size() - size, data, size);
}

std::vector<std::byte> ArchiveWriter::finish() {
  value(hash_bytes(bytes_));
  return std::move(bytes_);
}

ArchiveReader::ArchiveReader(std::span<const std::byte> bytes, std::string_view tag,
                             std::uint32_t version)
    : rest_(bytes) {
  std::uint64_t stored = 0;
  if (bytes.size() < sizeof stored)
    throw Error(Errc::data, fmt::format("saved state of {} bytes is too short", bytes.size()));
  rest_ = bytes.first(bytes.size() - sizeof stored);
  std::memcpy(&stored, bytes.data() + rest_.size(), sizeof stored);
  if (stored != hash_bytes(rest_))
    throw Error(Errc::data, "saved state is damaged or cut short: its checksum does not match");

  const auto tag_size = value<std::uint64_t>();
  if (tag_size > rest_.size()) mismatch("tag");
  std::string found(static_cast<std::size_t>(tag_size), '\0');
  take(found.data(), found.size());
  if (found != tag)
    throw Error(Errc::data, fmt::format("saved state is of '{}', but '{}' is needed", found, tag));
  const auto found_version = value<std::uint32_t>();
  if (found_version != version)
    throw Error(Errc::data,
                fmt::format("saved state of '{}' has version {}, but this is version {}", tag,
                            found_version, version));
}

void ArchiveReader::take(void* data, std::size_t size) {
  if (size > rest_.size()) throw Error(Errc::data, "saved state ends too early");
  if (size == 0) return;
  std::memcpy(data, rest_.data(), size);
  rest_ = rest_.subspan(size);
}

void ArchiveReader::finish() const {
  if (!rest_.empty())
    throw Error(Errc::data, fmt::format("saved state has {} bytes too many", rest_.size()));
}

void ArchiveReader::mismatch(std::string_view what) {
  throw Error(Errc::data, fmt::format("saved state has another {}", what));
}

}  // namespace hilo
