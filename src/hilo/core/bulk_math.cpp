#include "hilo/core/bulk_math.hpp"

#include <algorithm>
#include <array>

#include "hilo/core/detail/plain_number.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hilo/core/bulk_math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hilo/core/detail/number-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilo::HWY_NAMESPACE {

// Whole vectors of any span; its end goes through a buffer.
class Pieces {
 public:
  HWY_INLINE explicit Pieces(std::span<const double> x) : x_(x) {}
  HWY_INLINE Number at(std::size_t i) const {
    alignas(64) std::array<double, kLanes> piece = {};
    std::copy_n(x_.data() + i, std::min(kLanes, x_.size() - i), piece.data());
    return load(piece.data());
  }
  static HWY_INLINE void put(Number value, std::span<double> out, std::size_t i) {
    alignas(64) std::array<double, kLanes> piece;
    store(value, piece.data());
    std::copy_n(piece.data(), std::min(kLanes, out.size() - i), out.data() + i);
  }

 private:
  std::span<const double> x_;
};

void sines(std::span<const double> x, std::span<double> sine, std::span<double> cosine) {
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    const SineCosine both = sine_cosine(Pieces(x).at(i));
    Pieces::put(both.sine, sine, i);
    Pieces::put(both.cosine, cosine, i);
  }
}
void exponentials(std::span<const double> x, std::span<double> out) {
  for (std::size_t i = 0; i < x.size(); i += kLanes)
    Pieces::put(exponential(Pieces(x).at(i)), out, i);
}
void tangents(std::span<const double> x, std::span<double> out) {
  for (std::size_t i = 0; i < x.size(); i += kLanes)
    Pieces::put(hyperbolic_tangent(Pieces(x).at(i)), out, i);
}

}  // namespace hilo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "hilo/core/detail/dispatch.hpp"

namespace hilo {
namespace plain {

void sines(std::span<const double> x, std::span<double> sine, std::span<double> cosine) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const SineCosine both = sine_cosine(x[i]);
    sine[i] = both.sine;
    cosine[i] = both.cosine;
  }
}
void exponentials(std::span<const double> x, std::span<double> out) {
  std::ranges::transform(x, out.begin(), exponential);
}
void tangents(std::span<const double> x, std::span<double> out) {
  std::ranges::transform(x, out.begin(), hyperbolic_tangent);
}

}  // namespace plain

void bulk_sine_cosine(std::span<const double> x, std::span<double> sine, std::span<double> cosine,
                      SimdPath path) {
  HILO_DISPATCH(path, sines, x, sine, cosine);
}
void bulk_exponential(std::span<const double> x, std::span<double> out, SimdPath path) {
  HILO_DISPATCH(path, exponentials, x, out);
}
void bulk_tanh(std::span<const double> x, std::span<double> out, SimdPath path) {
  HILO_DISPATCH(path, tangents, x, out);
}

}  // namespace hilo
#endif  // HWY_ONCE
