#pragma once

#include "hilo/estimator/control_variate.hpp"
#include "hilo/estimator/estimator.hpp"

namespace hilo {

// The paper's estimator [eq. 7 to 10]:
//
//   Q = mean_hi + alpha (mu_lo - mean_lo),   alpha = cov / var of the pair's own coupled returns,
//
// with mu_lo the mean over the free and the coupled returns together. As these share the coupled
// ones, mu_lo - mean_lo = M / (n + M) (free mean - coupled mean).
//
// The estimator assumes that the coupled low-fidelity returns have the mean Q_lo, which is so only
// if both fidelities have the same dynamics; the standard error assumes it too. docs/departures.md
// says what happens otherwise. With two or three returns alpha is very noisy.
class PaperEstimator final : public Estimator {
 public:
  CorrectedEstimate estimate(const Evidence& e) const override {
    const ControlVariate cv = control_variate(e.paired, population_mean(e));
    CorrectedEstimate out = without_error(cv);
    if (e.paired.count() < 2) return out;
    const double n = e.paired.effective_count();
    const double m = e.free.effective_count();
    const double k = cv.alpha * m / (n + m);
    const double of_free = m > 0 ? e.free.variance() / m : 0;
    const double variance =
        (e.paired.variance_x() - 2 * k * e.paired.covariance() + k * k * e.paired.variance_y()) /
            n +
        k * k * of_free;
    out.standard_error = std::sqrt(std::max(0.0, variance));
    return out;
  }

  CorrectedEstimate estimate_quickly(const Evidence& e) const override {
    return without_error(control_variate(e.paired, population_mean(e)));
  }

  static double population_mean(const Evidence& e) {
    const auto num_free = static_cast<double>(e.free.count());
    const auto num_coupled = static_cast<double>(e.coupled.count());
    if (num_free + num_coupled == 0) return 0;
    return (num_free * e.free.mean() + num_coupled * e.coupled.mean()) / (num_free + num_coupled);
  }

  std::unique_ptr<Estimator> clone() const override {
    return std::make_unique<PaperEstimator>(*this);
  }

 private:
  static CorrectedEstimate without_error(const ControlVariate& cv) {
    return {.value = cv.value,
            .variance_ratio = cv.variance_ratio,
            .correlation = cv.correlation(),
            .corrected = cv.alpha != 0};
  }
};

}  // namespace hilo
