#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hilo/experiment/records.hpp"

// For the sources of this folder only.
namespace hilo {

// A record on its way between processes; what was thrown stays behind. Reading trusts no byte.
std::vector<std::byte> to_bytes(const RunRecord& record);
RunRecord record_from_bytes(std::span<const std::byte> bytes);

}  // namespace hilo
