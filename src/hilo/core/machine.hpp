#pragma once

#include <string>

namespace hilo {

std::string host_name();

// The processor and its number of threads: "AMD EPYC 7B13, 2 threads".
std::string machine_name();

}  // namespace hilo
