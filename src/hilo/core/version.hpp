#pragma once

#include <string>
#include <string_view>

namespace hilo {

std::string_view version();  // "0.1.0"
std::string_view commit();   // of the sources: "1a2b3c4d5e6f", "1a2b3c4d5e6f-dirty" or "unknown"

// "hilo 0.1.0 (1a2b3c4d5e6f)"
std::string program_name();

}  // namespace hilo
