#pragma once

#include <string_view>
#include <vector>

namespace hilo {

// The vectorised loops are compiled for several instruction sets, and the best one that the CPU has
// is chosen at run time. All give the same bits as `scalar`, which is plain C++ without vectors and
// the reference in the tests.
enum class SimdPath : unsigned char { scalar, portable, sse4, avx2, avx512 };

std::string_view name_of(SimdPath path);

// The paths that this CPU can run, `scalar` first and the best last.
std::vector<SimdPath> simd_paths();

// The default path: the one that the environment variable HILO_SIMD names or, if it is not set, the
// best. Throws if HILO_SIMD does not name a path that this CPU can run.
SimdPath simd_path();

// Throws if this CPU cannot run it.
void require_simd_path(SimdPath path);

}  // namespace hilo
