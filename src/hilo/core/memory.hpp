#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hilo {

// Bytes that can be had without making the machine swap: what is free or can be freed, no more than
// the limits of the process's control groups (versions 1 and 2) and of `ulimit -v`. Nothing where
// the system does not say. `root` is where /proc and /sys are, for tests.
std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

// Throws if so many workers, each of which needs so many bytes, do not fit, with the numbers.
// HILO_IGNORE_MEMORY=1 in the environment lets everything pass.
void require_memory(double bytes_each, double workers = 1);

}  // namespace hilo
