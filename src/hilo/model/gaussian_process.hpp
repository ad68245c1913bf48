#pragma once

#include <cstdint>
#include <vector>

#include "hilo/core/columns.hpp"

namespace hilo {

// What a Gaussian process assumes about several functions of the same inputs. Output d is
//
//   f_d(z) = smooth part + linear part,   cov = signal_d^2 exp(-1/2 sum_i ((z_i - z'_i) / l_i)^2)
//                                               + linear_d^2 (1 + z'z)
//
// seen with noise_d. All outputs have the same length scales l, one for each input: which inputs
// matter, and how quickly, is a property of the two simulators.
struct ProcessScales {
  std::vector<double> length;                 // one for each input
  std::vector<double> signal, linear, noise;  // standard deviations, one for each output
};

struct ProcessOptions {
  std::uint32_t iterations = 40;
  std::size_t most_points = 300;  // evenly spaced among all
  double least_noise = 1e-3;      // in units of the standard deviation of an output
  unsigned threads = 0;
};

// The scales of the largest marginal likelihood, found by gradients from `start`, or from unit
// length scales if that is empty. Inputs should have a spread of about 1. Weak priors keep scales
// that the data do not determine in a sensible range. Columns are points; `weights` (one row for
// each output) are 0 where an output was not seen and 1 elsewhere.
ProcessScales fit_scales(const Columns& inputs, const Columns& outputs, const Columns& weights,
                         const ProcessScales& start, const ProcessOptions& options);

// The logarithm of the marginal likelihood and its derivative with respect to the logarithms of the
// scales, in the order of ProcessScales, without priors. For tests.
double log_likelihood(const Columns& inputs, const Columns& outputs, const ProcessScales& scales,
                      std::vector<double>* gradient);

}  // namespace hilo
