#pragma once

#include <array>

namespace hilo {

// The posterior of the offset mu that the biases of all pairs share, given an estimate `mean` of it
// with the sampling variance v. The prior is a mixture of three equally likely parts with mean 0:
// no offset, as between simulators of the same dynamics; an offset of the size of tau, the spread
// of biases among pairs; and an offset of the size of the unit of biases. With s^2 the variance of
// a part (0, tau^2 and 1) and r = s^2 / (s^2 + v),
//   mu given the part ~ N(r mean, r v),   weight of the part ~ sqrt(1 - r) exp(r mean^2 / (2 v)).
// Without the first part, simulators with the same dynamics would keep the error that all pairs
// share, which is most of the error that remains there.
class OffsetPosterior {
 public:
  struct Part {
    double weight, mean, variance;
  };

  OffsetPosterior(double mean, double v, double tau_square);

  double mean() const { return mean_; }
  double variance() const { return variance_; }
  const std::array<Part, 3>& parts() const { return parts_; }  // weights sum to 1

 private:
  std::array<Part, 3> parts_;
  double mean_ = 0, variance_ = 0;
};

}  // namespace hilo
