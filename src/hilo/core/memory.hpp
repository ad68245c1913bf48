#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hilo {

// Bytes that can be allocated without making the machine swap: memory that is free or can be freed,
// within the limits of the process's control groups (versions 1 and 2) and of `ulimit -v`. Empty
// where the system does not tell. `root` is the folder that holds proc and sys, for tests.
std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

// Throws if `workers` workers that need `bytes_each` bytes each do not fit into the available
// memory; the message gives the numbers. HILO_IGNORE_MEMORY=1 in the environment turns the check
// off.
void require_memory(double bytes_each, double workers = 1);

}  // namespace hilo
