#include "hilo/core/simd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

struct NamedPath {
  SimdPath path;
  std::string_view name;
};
constexpr std::array<NamedPath, 5> kPaths = {{{SimdPath::scalar, "scalar"},
                                              {SimdPath::portable, "portable"},
                                              {SimdPath::sse4, "sse4"},
                                              {SimdPath::avx2, "avx2"},
                                              {SimdPath::avx512, "avx512"}}};

// Checks for the CPU features that Highway's targets of these names need. Highway has such a check
// as well, but in a shared library, which a Python wheel would have to include.
bool has(SimdPath path) {
  switch (path) {
    case SimdPath::scalar:
    case SimdPath::portable:
      return true;
#if defined(__x86_64__)
    case SimdPath::sse4:
      return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") &&
             __builtin_cpu_supports("aes");
    case SimdPath::avx2:
      return has(SimdPath::sse4) && __builtin_cpu_supports("avx2") &&
             __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
             __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
             __builtin_cpu_supports("f16c");
    case SimdPath::avx512:
      return has(SimdPath::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
#else
    default:
      return false;
#endif
  }
  return false;
}

SimdPath choose() {
  const std::vector<SimdPath> paths = simd_paths();
  const char* wanted = std::getenv("HILO_SIMD");
  if (wanted == nullptr || *wanted == '\0') return paths.back();
  std::string known;
  for (const SimdPath path : paths) {
    if (name_of(path) == wanted) return path;
    known += (known.empty() ? "" : ", ") + std::string(name_of(path));
  }
  throw Error(Errc::usage,
              fmt::format("HILO_SIMD is '{}', but must be one of {}, which this CPU can run",
                          wanted, known));
}

}  // namespace

std::string_view name_of(SimdPath path) {
  for (const NamedPath& known : kPaths)
    if (known.path == path) return known.name;
  return "?";
}

std::vector<SimdPath> simd_paths() {
  std::vector<SimdPath> paths;
  for (const NamedPath& known : kPaths)
    if (has(known.path)) paths.push_back(known.path);
  return paths;
}

SimdPath simd_path() {
  static const SimdPath path = choose();
  return path;
}

void require_simd_path(SimdPath path) {
  if (!has(path))
    throw Error(Errc::usage, fmt::format("this CPU cannot run the path '{}'", name_of(path)));
}

}  // namespace hilo
