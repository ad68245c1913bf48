#pragma once

#include <array>

namespace hilo {

// What is believed of the offset mu that the biases of all pairs share, given an estimate `mean` of
// it with the sampling variance v. The prior has three parts, each as likely as the others: there
// is no offset, as between simulators of the same dynamics; it is as large as biases differ among
// pairs, tau; it is as large as the unit of biases. With s^2 the variance of a part and
// r = s^2 / (s^2 + v),
//   mu given the part ~ N(r mean, r v),   weight of the part ~ sqrt(1 - r) exp(r mean^2 / (2 v)).
// Without the first part simulators with the same dynamics would keep the error that all pairs
// share, which is most of what is left there.
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
