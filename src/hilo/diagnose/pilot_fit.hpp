#pragma once

#include <algorithm>
#include <vector>

#include "hilo/diagnose/pilot.hpp"

namespace hilo {

// A pilot's episodes are left out group by group to see how much hangs on them.
inline constexpr std::uint32_t kPilotGroups = 20;
inline constexpr std::uint32_t kNoGroup = kPilotGroups;

// A pair as a set of episodes shows it.
struct PairFit {
  double weight;                // returns beyond the first
  double free_per_coupled;      // free returns for each coupled one
  double var_high, covariance;  // unbiased
  double own_var_low;           // unbiased, as the others must be for their sum to be right
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
  double offset = 0, bias_square = 0;  // weighted mean and mean square
  double offset_variance = 0;          // sampling variance of the mean, clustered by episode
  double inflation = 1;                // by how much the clusters widen it
  double spread = 0;                   // variance tau^2
  double raw_spread = 0;               // the same before it is kept from being negative
  std::vector<PairFit> pairs;
};

// Fits a pilot with or without some of its episodes.
class PilotFits {
 public:
  // Both must outlive it.
  PilotFits(const Fidelities& pair, const Pilot& pilot);

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
  void describe_pairs(PilotFit& out);
  static void fit_bias(PilotFit& out);
  void cluster_offset(PilotFit& out, std::uint32_t left_out) const;

  const Fidelities& pair_;
  const Pilot& pilot_;
  std::vector<std::uint32_t> index_of_, seen_;
  std::vector<double> counts_;  // returns of each pair seen, in the whole pilot
  std::vector<CoMoments> moments_;
  std::vector<std::uint32_t>
      fit_of_;  // of each pair seen: its place in PilotFit::pairs, or kUnseen
};

// How many returns a pair will have when the training ends.
struct PlannedReturns {
  double each = 1;     // of the high fidelity
  bool fading = true;  // returns fade, as MFMCRL+ lets them; then fewer equal ones would do as well
  double free_factor = 1;  // free returns, against those of the pilot's m

  double coupled() const { return effective(each); }
  double free(const PairFit& p) const { return effective(each * p.free_per_coupled * free_factor); }

 private:
  // Of n returns with weights 2 / (n + 1): core/moments.hpp.
  double effective(double n) const { return fading ? 3 * n * (n + 1) / (2 * (2 * n + 1)) : n; }
};

// By what the bias that a gain k lets through is judged.
enum class Judge : std::uint8_t {
  own_bias,  // each pair's own, so that a wrong model of the biases shows; needs many episodes
  model,     // the spread that the gains suppose, as if the model were right
};

// What decides the gain k of a pair, besides its own moments.
struct Gains {
  double alpha, spread;
};

// The squared error of the empirical-Bayes estimate with these gains over that of plain Monte Carlo
// with the same weights, summed over the pairs by their visits.
double error_ratio(const PilotFit& fit, const Gains& gains, const PlannedReturns& planned,
                   Judge judge);

}  // namespace hilo
