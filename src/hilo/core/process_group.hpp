#pragma once

#include <cstdint>
#include <vector>

namespace hilo {

// The processes of a group that have not ended, and the memory that they have in use.
std::vector<int> processes_of_group(int group);
std::uint64_t memory_of_group(int group);

}  // namespace hilo
