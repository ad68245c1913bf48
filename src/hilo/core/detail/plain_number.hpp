#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

// One number at a time, with the same functions as the vectors of number-inl.hpp and the same bits.
// Code that is written in terms of Number is included in both namespaces.
namespace hilo::plain {

using Number = double;
using Truth = bool;

inline constexpr std::size_t kLanes = 1;

inline Number load(const double* from) { return *from; }
inline void store(Number x, double* to) { *to = x; }

inline Truth is_less(Number a, Number b) { return a < b; }
inline Truth differs(Number a, Number b) { return a != b; }
inline Truth exclusive_or(Truth a, Truth b) { return a != b; }
inline Number select(Truth truth, Number yes, Number no) { return truth ? yes : no; }

inline Number round_to_even(Number x) { return std::nearbyint(x); }
inline Number round_down(Number x) { return std::floor(x); }
inline Number square_root(Number x) { return std::sqrt(x); }
inline Number least(Number a, Number b) { return a < b ? a : b; }
inline Number greatest(Number a, Number b) { return a > b ? a : b; }
inline Number magnitude(Number x) { return std::abs(x); }
// 2^k for a whole k from -1022 to 1023.
inline Number power_of_two(Number k) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(k + (0x1p52 + 1023)) << 52);
}

#define HILO_NUMBER_INLINE inline
#include "hilo/core/detail/portable_functions-inl.hpp"
#undef HILO_NUMBER_INLINE

}  // namespace hilo::plain
