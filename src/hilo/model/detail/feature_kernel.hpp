#pragma once

#include <cstddef>
#include <cstdint>

#include "hilo/core/simd.hpp"

namespace hilo {

// Random Fourier features of (state, action) for many paths, and their weighted sums. Rows are
// `stride` numbers apart.
struct FeatureArrays {
  static constexpr std::size_t kMostInputs = 64, kMostOutputs = 32;

  const double* states;
  const double* actions;
  std::size_t num_states, num_actions;  // coordinates
  const std::uint8_t* is_angle;         // for each coordinate of a state
  const double* centre;                 // of each input
  const double* inverse_scale;          // of each input
  std::size_t num_inputs;
  bool is_discrete;           // the action is an index, and enters as one input for each action
  std::size_t num_choices;    // discrete actions
  const double* frequencies;  // [frequency][input]
  std::size_t num_frequencies;
  // [1][output], then [input][output], then [frequency][cosine, sine][output].
  const double* weights;
  std::size_t num_outputs;
  double* out;  // rows of sums, one for each output
  std::size_t stride, padded;
};

void weigh_features(SimdPath path, const FeatureArrays& arrays);

}  // namespace hilo
