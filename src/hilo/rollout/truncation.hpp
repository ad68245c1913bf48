#pragma once

#include <cstdint>
#include <string_view>

namespace hilo {

// What becomes of an episode that was cut by max_steps or by the simulator's own limit of time. It
// did not end there, so its returns lack what would have come.
enum class Truncation : std::uint8_t {
  drop,      // "drop": cut returns are not learnt from; single steps are
  terminal,  // "terminal": the cut counts as the end, as if nothing had come
};

Truncation truncation_from_name(std::string_view name);

}  // namespace hilo
