#pragma once

#include <span>

#include "hilo/core/random.hpp"
#include "hilo/core/simd.hpp"

namespace hilo {

// Draw many numbers of a stream at once, vectorised. The numbers have the same bits as those that a
// fresh Rng(stream) gives one after the other.
void fill_uniform(const Stream& stream, std::span<double> out, SimdPath path = simd_path());
void fill_normal(const Stream& stream, std::span<double> out, SimdPath path = simd_path());

}  // namespace hilo
