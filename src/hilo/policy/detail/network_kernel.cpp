#include "hilo/policy/detail/network_kernel.hpp"

#include "hilo/core/detail/plain_number.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hilo/policy/detail/network_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hilo/core/detail/number-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilo::HWY_NAMESPACE {
#define HILO_NUMBER_INLINE HWY_INLINE
#include "hilo/policy/detail/network-inl.hpp"
#undef HILO_NUMBER_INLINE
}  // namespace hilo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "hilo/core/detail/dispatch.hpp"

namespace hilo {
namespace plain {
#define HILO_NUMBER_INLINE inline
#include "hilo/policy/detail/network-inl.hpp"
#undef HILO_NUMBER_INLINE
}  // namespace plain

void run_network(SimdPath path, const NetworkArrays& arrays) {
  HILO_DISPATCH(path, network_pass, arrays);
}

}  // namespace hilo
#endif  // HWY_ONCE
