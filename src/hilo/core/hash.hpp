#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hilo {

// FNV-1a, 64 bits. It detects damage and distinguishes configurations; it does not protect against
// deliberate tampering.
std::uint64_t hash_bytes(std::span<const std::byte> bytes);

// The same hash of a text, as 16 hex digits.
std::string hash_hex(std::string_view text);

}  // namespace hilo
