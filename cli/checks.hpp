#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "cli/arguments.hpp"

// Checks of numeric flags. CLI11 alone lets -1 wrap around, saturates numbers that are too large
// and accepts nan as a number.
namespace hilo::cli {

// Specs and stores have the same largest seed.
inline constexpr std::uint64_t kMaxSeed = 0x7fffffffffffffffULL;
inline constexpr std::uint64_t kMaxThreads = 4096;

template <class T>
bool reads_as(const std::string& text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

inline Check whole_number(std::uint64_t low, std::uint64_t high) {
  return [low, high](const std::string& text) {
    std::uint64_t value = 0;
    if (reads_as(text, value) && low <= value && value <= high) return std::string();
    return fmt::format("{} is given, but it must be a whole number in [{}, {}]", text, low, high);
  };
}

// A finite number in an interval. It includes its ends, except where `open_low` or `open_high` is
// set.
struct NumberRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false, open_high = false;
};

inline Check number_in(const NumberRange& range) {
  return [range](const std::string& text) {
    double value = 0;
    const bool fits = reads_as(text, value) && std::isfinite(value) && value >= range.low &&
                      value <= range.high && !(range.open_low && value == range.low) &&
                      !(range.open_high && value == range.high);
    if (fits) return std::string();
    if (std::isinf(range.low) && std::isinf(range.high))
      return fmt::format("{} is given, but it must be a finite number", text);
    return fmt::format("{} is given, but it must be a number in {}{}, {}{}", text,
                       range.open_low || std::isinf(range.low) ? "(" : "[", range.low, range.high,
                       range.open_high || std::isinf(range.high) ? ")" : "]");
  };
}

inline Check positive_number() { return number_in({.low = 0, .open_low = true}); }

}  // namespace hilo::cli
