#include "bare_loop.hpp"

#include <array>
#include <cstring>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bare_loop.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hilo/core/detail/philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilo::HWY_NAMESPACE {

// All ones if a < b, both below 2^63. Without a branch, and without the borrow flag, whose use
// would chain one path to the next.
HWY_INLINE std::uint64_t less_mask(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(a - b) >> 63);
}

HWY_INLINE void store(Word a, Word b, std::uint64_t* to) {
  const Words d;
  const Word low_half = hn::Set(d, 0xffffffffU);
  hn::Store(hn::And(a, low_half), d, to);
  hn::Store(hn::And(b, low_half), d, to + hn::Lanes(d));
}

double run_bare_loop(const LockstepTables& tables, State terminal, std::uint32_t steps,
                     std::uint64_t seed) {
  constexpr std::uint32_t kPaths = bench::kBarePaths;
  constexpr std::uint64_t kExploreBelow = 429496730;  // 0.1 * 2^32, rounded up
  const Words d;
  const std::size_t lanes = hn::Lanes(d);
  const std::uint64_t num_actions = tables.num_actions;
  const RoundKeys keys(seed);
  alignas(64) std::array<std::uint64_t, kPaths> rollout{}, w0{}, w1{}, w2{}, w3{};
  std::array<std::uint64_t, kPaths> state{};
  for (std::uint32_t i = 0; i < kPaths; ++i) rollout[i] = i;

  double total = 0;
  for (std::uint32_t t = 0; t < steps; ++t) {
    for (std::size_t i = 0; i < kPaths; i += 2 * lanes) {
      const Word position = hn::Set(d, std::uint64_t{t + 1} << 8);
      const Word purpose = hn::Set(d, static_cast<std::uint64_t>(Purpose::user));
      Counters a{position, hn::Load(d, &rollout[i]), purpose, hn::Zero(d)};
      Counters b{position, hn::Load(d, &rollout[i + lanes]), purpose, hn::Zero(d)};
      philox(keys, a, b);
      store(a.x0, b.x0, &w0[i]);
      store(a.x1, b.x1, &w1[i]);
      store(a.x2, b.x2, &w2[i]);
      store(a.x3, b.x3, &w3[i]);
    }
    for (std::uint32_t i = 0; i < kPaths; ++i) {
      const std::uint64_t action = (w1[i] * num_actions >> 32) & less_mask(w0[i], kExploreBelow);
      const TabularMdp::Row& row = tables.rows[state[i] * num_actions + action];
      const std::uint64_t scaled = w2[i] * row.size + (w3[i] * row.size >> 32);
      std::uint64_t entry;
      std::memcpy(&entry, tables.alias + row.offset + (scaled >> 32), sizeof entry);
      const std::uint64_t own = less_mask(scaled & 0xffffffffU, entry & 0xffffffffU);
      const std::uint64_t next = (entry >> (48 - (own & 16))) & 0xffff;
      total += row.reward;
      state[i] = next & ~less_mask(next ^ terminal, 1);
    }
  }
  return total;
}

}  // namespace hilo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hilo::bench {

double run_bare_loop(SimdPath path, const LockstepTables& tables, State terminal,
                     std::uint32_t steps, std::uint64_t seed) {
  switch (path) {
#if HWY_TARGETS & HWY_AVX3
    case SimdPath::avx512:
      return N_AVX3::run_bare_loop(tables, terminal, steps, seed);
#endif
#if HWY_TARGETS & HWY_AVX2
    case SimdPath::avx2:
      return N_AVX2::run_bare_loop(tables, terminal, steps, seed);
#endif
#if HWY_TARGETS & HWY_SSE4
    case SimdPath::sse4:
      return N_SSE4::run_bare_loop(tables, terminal, steps, seed);
#endif
    default:
      return HWY_STATIC_DISPATCH(run_bare_loop)(tables, terminal, steps, seed);
  }
}

}  // namespace hilo::bench
#endif  // HWY_ONCE
