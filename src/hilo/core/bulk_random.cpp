#include "hilo/core/bulk_random.hpp"

#include <algorithm>
#include <array>

#include "hilo/core/normal_quantile.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hilo/core/bulk_random.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hilo/core/detail/philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilo::HWY_NAMESPACE {

using Doubles = hn::ScalableTag<double>;
using Double = hn::Vec<Doubles>;

// The number of blocks that are drawn together, at least two vectors.
constexpr std::size_t kBlocks = 16;
constexpr std::size_t kWords = 4 * kBlocks;

// Draws the words of kBlocks blocks, from block `position` on, as uniform numbers
// (word + 1/2) / 2^32.
class UniformBlocks {
 public:
  explicit UniformBlocks(const Stream& stream)
      : keys_(stream.seed()),
        rollout_(stream.rollout()),
        pair_and_purpose_(stream.pair_and_purpose()),
        episode_(stream.episode()) {}

  HWY_INLINE void draw(std::uint32_t position, double* HWY_RESTRICT out) const {
    const Words d;
    const std::size_t lanes = hn::Lanes(d);
    alignas(64) std::array<double, kBlocks> words[4];
    for (std::size_t i = 0; i < kBlocks; i += 2 * lanes) {
      Counters a = counters(position + static_cast<std::uint32_t>(i));
      Counters b = counters(position + static_cast<std::uint32_t>(i + lanes));
      philox(keys_, a, b);
      store(a, words, i);
      store(b, words, i + lanes);
    }
    for (std::size_t i = 0; i < kBlocks; ++i)
      for (std::size_t k = 0; k < 4; ++k) out[4 * i + k] = words[k][i];
  }

 private:
  HWY_INLINE Counters counters(std::uint32_t position) const {
    const Words d;
    return {hn::Iota(d, position), hn::Set(d, rollout_), hn::Set(d, pair_and_purpose_),
            hn::Set(d, episode_)};
  }

  static HWY_INLINE void store(const Counters& c, std::array<double, kBlocks>* words,
                               std::size_t to) {
    const Doubles f;
    hn::Store(uniform(c.x0), f, &words[0][to]);
    hn::Store(uniform(c.x1), f, &words[1][to]);
    hn::Store(uniform(c.x2), f, &words[2][to]);
    hn::Store(uniform(c.x3), f, &words[3][to]);
  }

  // Writing an integer n < 2^52 into the mantissa bits of the double 2^52 gives 2^52 + n. All steps
  // are exact.
  static HWY_INLINE Double uniform(Word word) {
    const Words d;
    const Doubles f;
    const Word shifted = hn::Or(hn::And(word, hn::Set(d, 0xffffffffU)),
                                hn::Set(d, std::uint64_t{0x4330000000000000}));
    const Double number = hn::Sub(hn::BitCast(f, shifted), hn::Set(f, 0x1p52));
    return hn::Mul(hn::Add(number, hn::Set(f, 0.5)), hn::Set(f, 0x1p-32));
  }

  RoundKeys keys_;
  std::uint32_t rollout_, pair_and_purpose_, episode_;
};

HWY_INLINE Double evaluate(const NormalPolynomial& c, Double x) {
  const Doubles f;
  Double sum = hn::Set(f, c[7]);
#pragma GCC unroll 7
  for (std::size_t i = 7; i-- > 0;) sum = hn::Add(hn::Mul(sum, x), hn::Set(f, c[i]));
  return sum;
}

// Turns uniform numbers into normal ones, in place. The centre, 85 % of them, is computed with
// vectors, the tails one number at a time by normal_quantile().
HWY_INLINE void make_normal(double* HWY_RESTRICT numbers) {
  const Doubles f;
  alignas(64) std::array<double, kWords> uniform;
  std::copy_n(numbers, kWords, uniform.begin());
  for (std::size_t i = 0; i < kWords; i += hn::Lanes(f)) {
    const Double q = hn::Sub(hn::Load(f, &uniform[i]), hn::Set(f, 0.5));
    const Double r = hn::Sub(hn::Set(f, kNormalCentreSquare), hn::Mul(q, q));
    const Double z =
        hn::Div(hn::Mul(q, evaluate(kNormalCentreTop, r)), evaluate(kNormalCentreBottom, r));
    hn::StoreU(z, f, numbers + i);
  }
  for (std::size_t i = 0; i < kWords; ++i) {
    const double q = uniform[i] - 0.5;
    if (!(-kNormalCentre <= q && q <= kNormalCentre)) numbers[i] = normal_quantile(uniform[i]);
  }
}

void fill(const Stream& stream, std::span<double> out, bool normal) {
  const UniformBlocks blocks(stream);
  alignas(64) std::array<double, kWords> numbers;
  for (std::size_t first = 0; first < out.size(); first += kWords) {
    blocks.draw(static_cast<std::uint32_t>(first / 4), numbers.data());
    if (normal) make_normal(numbers.data());
    const std::size_t count = std::min(kWords, out.size() - first);
    std::copy_n(numbers.begin(), count, out.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

}  // namespace hilo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hilo {
namespace {

void fill(SimdPath path, const Stream& stream, std::span<double> out, bool normal) {
  switch (path) {
#if HWY_TARGETS & HWY_AVX3
    case SimdPath::avx512:
      return N_AVX3::fill(stream, out, normal);
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdPath::avx2:
      return N_AVX2::fill(stream, out, normal);
#endif
#if HWY_TARGETS & HWY_SSE4
    case SimdPath::sse4:
      return N_SSE4::fill(stream, out, normal);
#endif
    case SimdPath::scalar: {
      Rng rng(stream);
      for (double& x : out) x = normal ? rng.normal() : rng.uniform();
      return;
    }
    default:
      return HWY_STATIC_DISPATCH(fill)(stream, out, normal);
  }
}

}  // namespace

void fill_uniform(const Stream& stream, std::span<double> out, SimdPath path) {
  fill(path, stream, out, false);
}
void fill_normal(const Stream& stream, std::span<double> out, SimdPath path) {
  fill(path, stream, out, true);
}

}  // namespace hilo
#endif  // HWY_ONCE
