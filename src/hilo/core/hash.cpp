#include "hilo/core/hash.hpp"

#include <fmt/format.h>

namespace hilo {

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte b : bytes)
    hash = (hash ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3ULL;
  return hash;
}

std::string hash_hex(std::string_view text) {
  return fmt::format("{:016x}", hash_bytes(std::as_bytes(std::span(text))));
}

}  // namespace hilo
