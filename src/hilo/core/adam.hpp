#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace hilo {

// Adam (Kingma and Ba 2015), for a maximum: every weight moves by about `step_size`, whatever the
// scale of its gradient is.
//
//   m <- b1 m + (1 - b1) g        x <- x + step_size * m/(1 - b1^t) / (sqrt(v/(1 - b2^t)) + 1e-8)
//   v <- b2 v + (1 - b2) g^2
struct Adam {
  explicit Adam(std::size_t size) : mean(size, 0.0), square(size, 0.0) {}

  void climb(std::span<const double> gradient, double step_size, std::span<double> x) {
    constexpr double kMean = 0.9, kSquare = 0.999, kTiny = 1e-8;
    mean_weight = kMean * mean_weight + 1 - kMean;  // 1 - b1^t
    square_weight = kSquare * square_weight + 1 - kSquare;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean[i] = kMean * mean[i] + (1 - kMean) * gradient[i];
      square[i] = kSquare * square[i] + (1 - kSquare) * gradient[i] * gradient[i];
      x[i] += step_size * (mean[i] / mean_weight) / (std::sqrt(square[i] / square_weight) + kTiny);
    }
  }

  std::vector<double> mean, square;
  double mean_weight = 0, square_weight = 0;
};

}  // namespace hilo
