#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hilo/experiment/records.hpp"

// For the sources of this folder only.
namespace hilo {

// Converts a record to bytes for another process, and back. The exception in `cause` is left out.
// The bytes are checked when they are read.
std::vector<std::byte> to_bytes(const RunRecord& record);
RunRecord record_from_bytes(std::span<const std::byte> bytes);

}  // namespace hilo
