#pragma once

#include <string_view>
#include <vector>

namespace hilo {

// The vectorised loops are compiled for several instruction sets, and the best one that the CPU has
// is taken at run time. All give the same bits as `scalar`, one path after the other in plain C++,
// which is what they are tested against.
enum class SimdPath : unsigned char { scalar, portable, sse4, avx2, avx512 };

std::string_view name_of(SimdPath path);

// Those that this CPU can run, `scalar` first and the best last.
std::vector<SimdPath> simd_paths();

// The one to take where nothing else is said: the environment variable HILO_SIMD names it, or else
// it is the best. Throws if that names none that this CPU has.
SimdPath simd_path();

// Throws if this CPU cannot run it.
void require_simd_path(SimdPath path);

}  // namespace hilo
