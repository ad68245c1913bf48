#pragma once

#include <hwy/highway.h>

// Calls a function of the namespace that belongs to a SimdPath; `plain` has the one for `scalar`.
// For files that foreach_target.h has compiled for all targets.
#if HWY_TARGETS & HWY_AVX3
#define HILO_DISPATCH_AVX512(function, ...) \
  case SimdPath::avx512:                    \
    return N_AVX3::function(__VA_ARGS__);
#else
#define HILO_DISPATCH_AVX512(function, ...)
#endif
#if HWY_TARGETS & HWY_AVX2
#define HILO_DISPATCH_AVX2(function, ...) \
  case SimdPath::avx2:                    \
    return N_AVX2::function(__VA_ARGS__);
#else
#define HILO_DISPATCH_AVX2(function, ...)
#endif
#if HWY_TARGETS & HWY_SSE4
#define HILO_DISPATCH_SSE4(function, ...) \
  case SimdPath::sse4:                    \
    return N_SSE4::function(__VA_ARGS__);
#else
#define HILO_DISPATCH_SSE4(function, ...)
#endif

#define HILO_DISPATCH(path, function, ...)               \
  switch (path) {                                        \
    HILO_DISPATCH_AVX512(function, __VA_ARGS__)          \
    HILO_DISPATCH_AVX2(function, __VA_ARGS__)            \
    HILO_DISPATCH_SSE4(function, __VA_ARGS__)            \
    case SimdPath::scalar:                               \
      return plain::function(__VA_ARGS__);               \
    default:                                             \
      return HWY_STATIC_DISPATCH(function)(__VA_ARGS__); \
  }
