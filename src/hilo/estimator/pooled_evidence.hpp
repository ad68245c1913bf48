#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hilo/estimator/estimator.hpp"

namespace hilo {

// The moments of one pair, with variances shrunk to remove most of their sampling noise. Free
// returns are many, so their variance is shrunk towards that of all pairs as if by kPriorReturns
// more returns. Coupled returns are few, so their variances are shrunk towards the pair's variance
// of free returns times the ratio of the two variances over all pairs.
struct SteadyMoments {
  double n = 0, m = 0;  // effective numbers of coupled and of free returns
  double mean_high = 0;
  double difference = 0;  // d = mean of the free returns - mean of the coupled low-fidelity ones
  double var_high = 0, var_low = 0, var_free = 0;              // of one return
  double noise() const { return var_low / n + var_free / m; }  // v, the variance of d given b
};

// The square of the unit u of a pair's bias: a weighted mean of the variance of the pair's
// low-fidelity return (weight kOwnShare) and that of all pairs. With the pair's own variance alone,
// pairs whose returns never vary would have infinite biases. With one unit for all pairs, the
// correction does harm where the spreads of returns differ much, as in docking.
inline constexpr double kOwnShare = 0.75;
inline double bias_unit_square(double var_low, double pooled_var_low) {
  return kOwnShare * var_low + (1 - kOwnShare) * pooled_var_low;
}

// Sums over all pairs, kept up to date in O(1). A pair counts once, with its state at its last
// update, and its weight is multiplied by `forgetting` at every later update of any pair, because
// pairs that have not been visited for long hold returns of old policies. With `forgetting` = 1 the
// weights never fade.
//
// d estimates b = Q_lo - E[coupled low-fidelity return], which is zero for all pairs if both
// fidelities have the same dynamics. Pairs whose returns hardly vary have smaller biases, so each
// bias is measured in a unit u of its pair: over the pairs d / u ~ (mu, v / u^2 + tau^2). tau^2 is
// estimated by the method of moments with weights 1 / (v / u^2 + tau^2) (DerSimonian and Kacker
// 2007, which is DerSimonian and Laird 1986 for weights 1 / v), and mu by its posterior given the
// weighted mean (offset_posterior.hpp).
//
// The returns of an episode share its random outcomes, so the errors of the pairs that it visits
// are correlated, and their mean is far less certain than if they were independent. The variance
// of the mean is therefore clustered by episode (Liang and Zeger 1986), by a factor that is
// estimated from the episodes:
//   F = sum over episodes (sum of moves)^2 / sum over episodes (sum of squared moves),
// where the move of a pair is the amount by which the episode moved the pair's term of the weighted
// mean.
class PooledEvidence {
 public:
  static constexpr double kPriorReturns = 30;
  static constexpr std::size_t kFewestPairs = 3;  // with fewer there is no correction

  PooledEvidence(std::size_t num_pairs, double forgetting);

  void update(std::size_t pair, const Evidence& evidence);
  // Call after the updates of one episode.
  void end_episode();

  // Whether enough pairs have been seen for a correction.
  bool ready() const { return num_seen_ >= kFewestPairs && sums_.var_low > 0; }

  double alpha() const;        // sum of cov / sum of var
  double correlation() const;  // of the pooled moments
  // Moments of the biases in units of u.
  double bias_offset() const { return bias_.offset; }               // E[mu]
  double bias_variance() const { return bias_.variance; }           // tau^2
  double offset_variance() const { return bias_.offset_variance; }  // Var[mu]
  double bias_square() const { return bias_.square; }               // mean of d^2 - v, at least 0

  // F, at least 1: the factor by which the correlation within episodes increases the variance of
  // the mean of d / u.
  double inflation() const {
    return clusters_.apart > 0 ? std::max(1.0, clusters_.together / clusters_.apart) : 1;
  }

  SteadyMoments steady(const Evidence& evidence) const;

  // u^2, the square of the unit in which the pair's bias is measured.
  double unit_square(const SteadyMoments& x) const {
    const double pooled = sums_.freedom > 0 ? sums_.var_low / sums_.freedom : 0;
    return bias_unit_square(x.var_low, pooled);
  }

  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  // The current contribution of a pair to the sums.
  struct Entry {
    double weight = 0;  // 0: not seen yet
    double precision = 0;
    double difference = 0, noise = 0;  // in units of u and its square
    double mean_low = 0;               // of the coupled returns
    double freedom = 0, var_high = 0, var_low = 0, cov = 0;
    double free_freedom = 0, var_free = 0;
  };
  struct Sums {
    double weight = 0;
    double w = 0, w_d = 0, w_dd = 0, w_v = 0, ww = 0, ww_v = 0;  // w = weight * precision
    double freedom = 0, var_high = 0, var_low = 0, cov = 0;      // weighted by freedom
    double free_freedom = 0, var_free = 0;
  };
  // The two sums of F.
  struct Clusters {
    double together = 0, apart = 0;
  };
  struct Bias {
    double offset = 0, variance = 0, offset_variance = 0, square = 0;
  };

  static void add(Sums& sums, const Entry& entry, double sign);
  void fit_bias();
  void resynchronise();

  std::vector<Entry> entries_;
  double forgetting_;
  Sums sums_;
  Bias bias_;
  Clusters clusters_;
  double move_ = 0, squares_ = 0;  // sum of moves and of their squares in the current episode
  double weight_ = 1;  // of the next update; it grows, so that all others fade relative to it
  std::uint64_t num_seen_ = 0;
  std::uint64_t updates_ = 0;  // since the sums were last recomputed
};

}  // namespace hilo
