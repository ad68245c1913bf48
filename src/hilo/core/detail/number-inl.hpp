// A vector of doubles that reads like a double, for code that is written once for vectors and for
// single numbers (plain_number.hpp). It is compiled once for each of Highway's targets and so has
// no ordinary include guard. Files that foreach_target.h includes include it below
// <hwy/highway.h>.
#if defined(HILO_CORE_NUMBER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HILO_CORE_NUMBER_INL_HPP
#undef HILO_CORE_NUMBER_INL_HPP
#else
#define HILO_CORE_NUMBER_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace hilo::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using NumberTag = hn::ScalableTag<double>;
using Truth = hn::Mask<NumberTag>;

inline constexpr std::size_t kLanes = HWY_LANES(double);

struct Number {
  hn::Vec<NumberTag> lanes;

  Number() = default;  // not zero: arrays of numbers are filled anyway
  HWY_INLINE Number(hn::Vec<NumberTag> v) : lanes(v) {}            // NOLINT: the same thing
  HWY_INLINE Number(double x) : lanes(hn::Set(NumberTag(), x)) {}  // NOLINT: reads like a double
};

HWY_INLINE Number load(const double* from) { return hn::Load(NumberTag(), from); }
HWY_INLINE void store(Number x, double* to) { hn::Store(x.lanes, NumberTag(), to); }

// Never a fused multiplication and addition: those would round differently.
HWY_INLINE Number operator+(Number a, Number b) { return hn::Add(a.lanes, b.lanes); }
HWY_INLINE Number operator-(Number a, Number b) { return hn::Sub(a.lanes, b.lanes); }
HWY_INLINE Number operator*(Number a, Number b) { return hn::Mul(a.lanes, b.lanes); }
HWY_INLINE Number operator/(Number a, Number b) { return hn::Div(a.lanes, b.lanes); }
HWY_INLINE Number operator-(Number a) { return hn::Neg(a.lanes); }

HWY_INLINE Truth is_less(Number a, Number b) { return hn::Lt(a.lanes, b.lanes); }
HWY_INLINE Truth differs(Number a, Number b) { return hn::Ne(a.lanes, b.lanes); }
HWY_INLINE Truth exclusive_or(Truth a, Truth b) { return hn::Xor(a, b); }
HWY_INLINE Number select(Truth truth, Number yes, Number no) {
  return hn::IfThenElse(truth, yes.lanes, no.lanes);
}

HWY_INLINE Number round_to_even(Number x) { return hn::Round(x.lanes); }
HWY_INLINE Number round_down(Number x) { return hn::Floor(x.lanes); }
HWY_INLINE Number square_root(Number x) { return hn::Sqrt(x.lanes); }
// As comparisons, because minima of zeros and of NaN differ between processors.
HWY_INLINE Number least(Number a, Number b) { return select(is_less(a, b), a, b); }
HWY_INLINE Number greatest(Number a, Number b) { return select(is_less(b, a), a, b); }
HWY_INLINE Number magnitude(Number x) { return hn::Abs(x.lanes); }
HWY_INLINE Number power_of_two(Number k) {
  const hn::RebindToUnsigned<NumberTag> bits;
  return hn::BitCast(NumberTag(),
                     hn::ShiftLeft<52>(hn::BitCast(bits, (k + Number(0x1p52 + 1023)).lanes)));
}

#define HILO_NUMBER_INLINE HWY_INLINE
#include "hilo/core/detail/portable_functions-inl.hpp"
#undef HILO_NUMBER_INLINE

}  // namespace hilo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HILO_CORE_NUMBER_INL_HPP
