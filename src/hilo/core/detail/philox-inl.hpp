// Philox4x32-10 for many counters at once. It is compiled once for each of Highway's targets and so
// has no ordinary include guard. Files that foreach_target.h includes include it below
// <hwy/highway.h>.
#if defined(HILO_CORE_PHILOX_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HILO_CORE_PHILOX_INL_HPP
#undef HILO_CORE_PHILOX_INL_HPP
#else
#define HILO_CORE_PHILOX_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace hilo::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// All lanes are 64 bits wide and hold 32-bit numbers in their lower half; the upper half is
// ignored. A round then needs no shuffles: the widening multiplication reads only the lower halves,
// and its result serves unshifted as the low word and shifted right as the high word.
using Words = hn::ScalableTag<std::uint64_t>;
using Word = hn::Vec<Words>;

// The full product of the lower halves.
HWY_INLINE Word multiply_low_halves(Word a, Word b) {
#if HWY_TARGET == HWY_SCALAR
  return Word(std::uint64_t{static_cast<std::uint32_t>(a.raw)} * static_cast<std::uint32_t>(b.raw));
#else
  const hn::Repartition<std::uint32_t, Words> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
#endif
}

// The keys of all rounds, each repeated in every lane of a vector.
struct RoundKeys {
  static constexpr std::size_t kLanes = HWY_LANES(std::uint64_t);
  alignas(64) std::uint64_t keys[20][kLanes];

  explicit RoundKeys(std::uint64_t key) {
    auto key0 = static_cast<std::uint32_t>(key);
    auto key1 = static_cast<std::uint32_t>(key >> 32);
    for (std::size_t round = 0; round < 10; ++round) {
      for (std::size_t i = 0; i < kLanes; ++i) {
        keys[2 * round][i] = key0;
        keys[2 * round + 1][i] = key1;
      }
      key0 += 0x9E3779B9U;
      key1 += 0xBB67AE85U;
    }
  }
};

// One vector of counters, or of the blocks that philox() makes of them.
struct Counters {
  Word x0, x1, x2, x3;
};

HWY_INLINE void philox_round(Counters& c, Word m0, Word m1, Word k0, Word k1) {
  const Word p0 = multiply_low_halves(c.x0, m0);
  const Word p1 = multiply_low_halves(c.x2, m1);
  c.x0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c.x1), k0);
  c.x1 = p1;
  c.x2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c.x3), k1);
  c.x3 = p0;
}

// Replaces a vector of counters by their blocks.
HWY_INLINE void philox(const RoundKeys& keys, Counters& a) {
  const Words d;
  const Word m0 = hn::Set(d, 0xD2511F53U);
  const Word m1 = hn::Set(d, 0xCD9E8D57U);
#pragma GCC unroll 10
  for (std::size_t round = 0; round < 10; ++round)
    philox_round(a, m0, m1, hn::Load(d, keys.keys[2 * round]),
                 hn::Load(d, keys.keys[2 * round + 1]));
}

// The same for two vectors, interleaved: a round must wait for the one before it, and the other
// vector's round fills that wait.
HWY_INLINE void philox(const RoundKeys& keys, Counters& a, Counters& b) {
  const Words d;
  const Word m0 = hn::Set(d, 0xD2511F53U);
  const Word m1 = hn::Set(d, 0xCD9E8D57U);
#pragma GCC unroll 10
  for (std::size_t round = 0; round < 10; ++round) {
    const Word k0 = hn::Load(d, keys.keys[2 * round]);
    const Word k1 = hn::Load(d, keys.keys[2 * round + 1]);
    philox_round(a, m0, m1, k0, k1);
    philox_round(b, m0, m1, k0, k1);
  }
}

}  // namespace hilo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HILO_CORE_PHILOX_INL_HPP
