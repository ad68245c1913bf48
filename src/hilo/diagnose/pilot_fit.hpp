#pragma once

#include <vector>

#include "hilo/diagnose/pilot.hpp"

namespace hilo {

// A pilot's episodes are left out group by group to see how much hangs on them.
inline constexpr std::uint32_t kPilotGroups = 20;
inline constexpr std::uint32_t kNoGroup = kPilotGroups;

// A pair as a set of episodes shows it.
struct PairFit {
  double weight;                // returns beyond the first
  double var_high, covariance;  // unbiased
  double var_low, var_free;     // drawn to those of all pairs
  double unit;                  // u, of its bias
  double difference;            // d = mean of free - mean of coupled returns
  double noise;                 // v, its sampling variance
};

// Everything that is estimated from a set of episodes.
struct PilotFit {
  double freedom = 0;
  double var_high = 0, var_low = 0, covariance = 0, var_free = 0;  // pooled within pairs
  // Of biases in units of u.
  double offset = 0, bias_square = 0;  // mean and mean square
  double spread = 0;                   // variance tau^2
  double raw_spread = 0;               // the same before it is kept from being negative
  std::vector<PairFit> pairs;
};

// Fits a pilot with or without some of its episodes.
class PilotFits {
 public:
  // Both must outlive it.
  PilotFits(const FidelityPair& pair, const Pilot& pilot);

  PilotFit fit(std::uint32_t left_out);

  const std::vector<std::uint32_t>& seen() const { return seen_; }    // s * num_actions + a
  const std::vector<CoMoments>& moments() const { return moments_; }  // of them, in the last fit

  // How many other returns of its pair a return of the pilot has, on the average. It grows with the
  // episodes, however many pairs have been seen so far.
  double returns_beside() const;

  // Free returns that a pair has for each of its coupled ones. Where several high-fidelity states
  // share a low-fidelity one they share its free returns, so this is more than were paid for.
  double free_per_coupled() const;

 private:
  const Moments& free_of(std::size_t k) const;
  bool usable(std::size_t k) const { return moments_[k].count() > 1 && free_of(k).count() > 1; }
  void pool_variances(PilotFit& out) const;
  void describe_pairs(PilotFit& out) const;
  static void fit_bias(PilotFit& out);

  const FidelityPair& pair_;
  const Pilot& pilot_;
  std::vector<std::uint32_t> index_of_, seen_;
  std::vector<CoMoments> moments_;
};

// By what the bias that a gain k lets through is judged.
enum class Judge : std::uint8_t {
  own_bias,  // each pair's own, so that a wrong model of the biases shows; needs many episodes
  model,     // the fitted spread, which a short pilot can tell
};

// The error of the empirical-Bayes estimate with n coupled and m free returns, over that of plain
// Monte Carlo. The gains are those of `gains`, the fit of all episodes, so that what is left to
// vary when some are left out is smooth.
double error_ratio(const PilotFit& fit, const PilotFit& gains, double n, double m, Judge judge);

// The same as the model itself expects it, never below what the correlation allows: a smooth curve
// for weighing costs.
double expected_error(const PilotFit& fit, double n, double m);

}  // namespace hilo
