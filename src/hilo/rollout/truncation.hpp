#pragma once

#include <cstdint>
#include <string_view>

namespace hilo {

// How an agent treats an episode that was cut off by max_steps or by the simulator's own time
// limit. The episode did not end there, so its returns lack the rewards that would have followed.
enum class Truncation : std::uint8_t {
  drop,      // "drop": the agent learns from single steps, but not from the cut returns
  terminal,  // "terminal": the cut counts as the end, as if no rewards followed
};

Truncation truncation_from_name(std::string_view name);

}  // namespace hilo
