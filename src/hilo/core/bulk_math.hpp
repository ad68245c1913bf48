#pragma once

#include <span>

#include "hilo/core/simd.hpp"

namespace hilo {

// Functions of many numbers at once, vectorised, with the same bits on every path as portable_sin
// and the others of portable_math.hpp. The spans of one call have the same length.
void bulk_sine_cosine(std::span<const double> x, std::span<double> sine, std::span<double> cosine,
                      SimdPath path = simd_path());
void bulk_exponential(std::span<const double> x, std::span<double> out,
                      SimdPath path = simd_path());
void bulk_tanh(std::span<const double> x, std::span<double> out, SimdPath path = simd_path());

}  // namespace hilo
