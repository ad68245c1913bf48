#include "hilo/estimator/offset_posterior.hpp"

#include <cmath>

#include "hilo/core/portable_math.hpp"

namespace hilo {

OffsetPosterior::OffsetPosterior(double mean, double v, double tau_square)
    : parts_{{{0, mean, 0}, {0, mean, 0}, {1, mean, 0}}} {
  const std::array<double, 3> prior = {0, tau_square, 1};
  double weights = 0;
  if (v > 0) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double r = prior[i] / (prior[i] + v);
      // mean^2 / (2 v) is subtracted from every exponent, so that nothing overflows.
      const double weight = std::sqrt(1 - r) * portable_exp((r - 1) * mean * mean / (2 * v));
      parts_[i] = {weight, r * mean, r * v};
      weights += weight;
    }
    // If the mean is so far from zero that all weights underflow, only the widest part is kept.
    if (!(weights > 0)) weights = parts_[2].weight = 1;
    for (Part& part : parts_) part.weight /= weights;
  }
  double square = 0;
  for (const Part& part : parts_) {
    mean_ += part.weight * part.mean;
    square += part.weight * (part.variance + part.mean * part.mean);
  }
  variance_ = std::fmax(0, square - mean_ * mean_);
}

}  // namespace hilo
