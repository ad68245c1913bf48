#pragma once

#include <cstdint>

#include "hilo/core/archive.hpp"

namespace hilo {

// Mean rewards of one pair (s, a) of the high fidelity: y in the high fidelity, and x in the low
// fidelity for the same steps.
struct RewardMeans {
  std::uint64_t count = 0;
  double x = 0, y = 0;
};

// r_hi = offset + slope r_lo + u + noise, where the effect u is constant for a pair and has the
// variance `pair_variance` among pairs.
struct RewardFit {
  double offset = 0;
  double slope = 1;
  double pair_variance = 1;
  double noise_variance = 0;
  double mean_x = 0;  // over the pairs seen

  // The share of a pair's mean residual that is attributed to u after n observations:
  // u = share * residual.
  double share(double n) const {
    const double own = n * pair_variance;
    return own > 0 ? own / (own + noise_variance) : 0;
  }
  double effect(const RewardMeans& pair) const {
    return share(static_cast<double>(pair.count)) * (pair.y - offset - slope * pair.x);
  }
  // The variance of u after n observations.
  double variance_of_effect(double n) const { return pair_variance * (1 - share(n)); }
};

// Regresses the rewards of the high fidelity on those of the low one over all pairs seen, each pair
// by its means, and separates the variance among pairs from the noise within them (one-way analysis
// of variance, by moments). O(1) per observation. A low fidelity whose rewards are uninformative
// gets the slope 0 and so has no influence.
class RewardRegression {
 public:
  // `low_variance` is the variance of the low fidelity's mean rewards among its pairs. It is 0 if
  // there is no low fidelity (then the slope is 0) or its rewards are the same everywhere (then the
  // slope is 1).
  RewardRegression(bool with_low, double low_variance)
      : with_low_(with_low), low_variance_(low_variance) {}

  // Adds one step of a pair and updates the pair's means.
  void observe(double x, double y, RewardMeans& pair);

  RewardFit fit() const;
  // The fit as if there were no low fidelity.
  RewardFit fit_alone() const;

  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  RewardFit fit(bool with_low, double prior_variance) const;
  void count_pair(const RewardMeans& pair, double sign);

  // Over the means of pairs: number, sums, sums of squares and products, and the sum of 1/n.
  struct Between {
    double num = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0, inverse_counts = 0;
  };
  // Within pairs: degrees of freedom, sums of squares and products of deviations.
  struct Within {
    double freedom = 0, xx = 0, xy = 0, yy = 0;
  };

  bool with_low_;
  double low_variance_;
  Between between_;
  Within within_;
};

}  // namespace hilo
