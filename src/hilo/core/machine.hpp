#pragma once

#include <cstdint>
#include <string>

namespace hilo {

std::string host_name();

// The processor and its number of threads: "AMD EPYC 7B13, 2 threads".
std::string machine_name();

// Bytes that can be had without making the machine swap: what is free or can be freed, and no more
// than the limit of the process's group. 0: not known.
std::uint64_t available_memory();

}  // namespace hilo
