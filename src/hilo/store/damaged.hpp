#pragma once

#include <cstdint>

namespace hilo {

// What a reader does with a part of a file that is not what was written.
enum class Damaged : std::uint8_t { stop, leave_out };

}  // namespace hilo
