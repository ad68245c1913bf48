#pragma once

#include "hilo/core/simd.hpp"
#include "hilo/env/control/control.hpp"

namespace hilo {

// Rows of `padded` numbers, on cache lines.
struct ControlArrays {
  double* q[2];
  double* v[2];
  const double* noise[2];
  const double* action;
  const double* chosen;
  double* reward;
  double speed_bound[2];  // at which velocities are clamped
  std::size_t padded;
};

// One step of all paths, vectorised, with the same bits on every path.
void advance(SimdPath path, const ControlOptions& options, const ControlArrays& arrays);

}  // namespace hilo
