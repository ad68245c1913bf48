#pragma once

#include <cstdint>

#include "hilo/policy/network_policy.hpp"

namespace hilo {

// Rows of numbers on cache lines; rows of observations and actions are `stride` apart.
struct NetworkArrays {
  const NetworkShape* shape;
  const std::uint8_t* is_angle;  // for each coordinate of an observation
  const double* inverse_scale;
  std::size_t outputs;
  const double* weights;
  std::size_t weight_stride;
  bool is_shared;  // one column of weights for all
  const double* observations;
  double* actions;
  bool gives_preferences;  // of discrete actions: a row for each instead of the best one
  std::size_t stride, padded;
};

void run_network(SimdPath path, const NetworkArrays& arrays);

}  // namespace hilo
