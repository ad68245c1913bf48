#pragma once

#include <algorithm>
#include <vector>

#include "hilo/diagnose/pilot.hpp"

namespace hilo {

// A pilot's episodes are left out group by group to estimate uncertainty.
inline constexpr std::uint32_t kPilotGroups = 20;
inline constexpr std::uint32_t kNoGroup = kPilotGroups;

// The estimates for one pair from a set of episodes.
struct PairFit {
  double weight;                // returns beyond the first
  double free_per_coupled;      // free returns for each coupled one
  double var_high, covariance;  // unbiased
  double own_var_low;           // unbiased like these two, so that their sum is right
  double var_low, var_free;     // shrunk towards those of all pairs
  double unit;                  // u, the unit of its bias
  double difference;            // d = mean of free - mean of coupled low-fidelity returns
  double noise;                 // v, the sampling variance of d
};

// Everything that is estimated from a set of episodes.
struct PilotFit {
  double freedom = 0;
  double var_high = 0, var_low = 0, covariance = 0, var_free = 0;  // pooled within pairs
  // Moments of the biases in units of u.
  double offset = 0, bias_square = 0;  // weighted mean and mean square
  double offset_variance = 0;          // sampling variance of the mean, clustered by episode
  double inflation = 1;                // the factor by which clustering increases it
  double spread = 0;                   // variance tau^2
  double raw_spread = 0;               // the same, but it may be negative
  std::vector<PairFit> pairs;
};

// Computes estimates from all episodes of a pilot or with one group left out.
class PilotFits {
 public:
  // Both arguments must outlive the object.
  PilotFits(const Fidelities& pair, const Pilot& pilot);

  PilotFit fit(std::uint32_t left_out);

  const std::vector<std::uint32_t>& seen() const { return seen_; }    // s * num_actions + a
  const std::vector<CoMoments>& moments() const { return moments_; }  // of seen(), in the last fit

  // The number of other returns of the same pair, on average over the returns of the pilot. It
  // grows with the number of episodes, however many pairs have been seen so far.
  double returns_beside() const;

  // The number of free returns that a pair has for each of its coupled ones. Where several
  // high-fidelity states share a low-fidelity one, they share its free returns, so this is more
  // than were sampled.
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
      fit_of_;  // of each pair seen: its index in PilotFit::pairs, or kUnseen
};

// The number of returns that a pair will have when the training ends.
struct PlannedReturns {
  double each = 1;     // of the high fidelity
  bool fading = true;  // old returns fade, as in MFMCRL+, so that the effective number is smaller
  double free_factor = 1;  // free returns divided by those that the pilot's m would give

  double coupled() const { return effective(each); }
  double free(const PairFit& p) const { return effective(each * p.free_per_coupled * free_factor); }

 private:
  // The effective number of n returns with weights 2 / (n + 1): core/moments.hpp.
  double effective(double n) const { return fading ? 3 * n * (n + 1) / (2 * (2 * n + 1)) : n; }
};

// Which bias enters the predicted error of an estimate with gain k.
enum class Judge : std::uint8_t {
  own_bias,  // each pair's own, so that a wrong model of the biases shows; needs many episodes
  model,     // the spread that the gains assume, as if the model were right
};

// The numbers that determine the gain k of a pair, besides its own moments.
struct Gains {
  double alpha, spread;
};

// The squared error of the empirical-Bayes estimate with these gains, divided by that of plain
// Monte Carlo with the same weights. Both are sums over the pairs, weighted by their visits.
double error_ratio(const PilotFit& fit, const Gains& gains, const PlannedReturns& planned,
                   Judge judge);

}  // namespace hilo
