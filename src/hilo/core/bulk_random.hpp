#pragma once

#include <span>

#include "hilo/core/random.hpp"
#include "hilo/core/simd.hpp"

namespace hilo {

// Many numbers of a stream at once, vectorised: the same bits as a fresh Rng(stream) gives one
// after the other.
void fill_uniform(const Stream& stream, std::span<double> out, SimdPath path = simd_path());
void fill_normal(const Stream& stream, std::span<double> out, SimdPath path = simd_path());

}  // namespace hilo
