#include "hilo/env/control/detail/advance.hpp"

#include "hilo/core/detail/plain_number.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hilo/env/control/detail/advance.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hilo/core/detail/number-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilo::HWY_NAMESPACE {
#define HILO_NUMBER_INLINE HWY_INLINE
#include "hilo/env/control/detail/dynamics-inl.hpp"
#undef HILO_NUMBER_INLINE
}  // namespace hilo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "hilo/core/detail/dispatch.hpp"

namespace hilo {
namespace plain {
#define HILO_NUMBER_INLINE inline
#include "hilo/env/control/detail/dynamics-inl.hpp"
#undef HILO_NUMBER_INLINE
}  // namespace plain

void advance(SimdPath path, const ControlOptions& options, const ControlArrays& arrays) {
  HILO_DISPATCH(path, advance_all, options, arrays);
}

}  // namespace hilo
#endif  // HWY_ONCE
