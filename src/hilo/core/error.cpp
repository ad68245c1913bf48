#include "hilo/core/error.hpp"

#include <fmt/format.h>

namespace hilo {

void require_within(std::string_view name, double value, double low, double high, Errc code) {
  if (low <= value && value <= high) return;
  throw Error(code, fmt::format("{} is {}, but must be in [{}, {}]", name, value, low, high));
}

void require_within(std::string_view name, std::uint64_t value, std::uint64_t low,
                    std::uint64_t high, Errc code) {
  if (low <= value && value <= high) return;
  throw Error(code, fmt::format("{} is {}, but must be in [{}, {}]", name, value, low, high));
}

}  // namespace hilo
