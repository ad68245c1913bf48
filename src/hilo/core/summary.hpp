#pragma once

#include <cstdint>
#include <span>

#include "hilo/core/moments.hpp"

namespace hilo {

// The 97.5 % quantile of Student's t distribution, correct to four digits: half the width of a 95 %
// interval in standard errors.
double student_t_975(std::uint64_t degrees_of_freedom);

// A mean with its spread, over seeds or episodes. With one of them, only the mean is known.
struct Summary {
  std::uint64_t n = 0;
  double mean = 0, sd = 0, standard_error = 0;
  double low = 0, high = 0;  // 95 % interval of the mean; equal to the mean if n is 1
};

Summary summarise(const Moments& values);
Summary summarise(std::span<const double> values);

}  // namespace hilo
