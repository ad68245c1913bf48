#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "hilo/estimator/paired_sample.hpp"

// For the sources of this folder only: matrices over at most five simulators, without allocation.
// They are too small for Eigen to block them by the size of a cache, so that every CPU gives the
// same bits.
namespace hilo {

// An even size, so that the compiler sees that pairs of numbers never reach beyond the end.
inline constexpr int kRoom = static_cast<int>((Covariances::kMost + 1) / 2 * 2);
using SmallMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kRoom, kRoom>;
using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kRoom, 1>;

// Simulators may be identical, or nearly so; then their covariances have no inverse. A variance
// that is larger by this share changes no estimate beyond the noise.
inline constexpr double kRidge = 1e-8;

// x = A^-1 b for a symmetric positive semidefinite A, scaled to a diagonal of 1 first, because the
// scales of returns of two simulators may differ by orders of magnitude.
template <class Rhs>
auto solve_scaled(SmallMatrix a, Rhs b, double ridge = kRidge) {
  SmallVector scale(a.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i) scale[i] = a(i, i) > 0 ? 1 / std::sqrt(a(i, i)) : 0;
  a = (scale.asDiagonal() * a * scale.asDiagonal()).eval();
  for (Eigen::Index i = 0; i < a.rows(); ++i) a(i, i) = 1 + ridge;
  b = (scale.asDiagonal() * b).eval();
  Rhs x = a.ldlt().solve(b);
  return Rhs(scale.asDiagonal() * x);
}

inline SmallMatrix inverse_scaled(const SmallMatrix& a, double ridge = kRidge) {
  return solve_scaled(a, SmallMatrix(SmallMatrix::Identity(a.rows(), a.rows())), ridge);
}

inline SmallMatrix matrix_of(const Covariances& c) {
  const auto size = static_cast<Eigen::Index>(c.size());
  SmallMatrix out(size, size);
  for (Eigen::Index i = 0; i < size; ++i)
    for (Eigen::Index k = 0; k < size; ++k)
      out(i, k) = c(static_cast<std::size_t>(i), static_cast<std::size_t>(k));
  return out;
}

}  // namespace hilo
