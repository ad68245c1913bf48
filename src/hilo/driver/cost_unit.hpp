#pragma once

#include <cstdint>

namespace hilo {

// In what costs are counted: in the unit that was declared, in that of the simulator's own reports,
// or in seconds.
enum class CostUnit : std::uint8_t { declared, reported, seconds };

}  // namespace hilo
