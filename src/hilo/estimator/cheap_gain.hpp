#pragma once

#include <span>
#include <vector>

#include "hilo/estimator/paired_sample.hpp"

namespace hilo {

// How well cheap simulators predict the expensive one, from n paired returns.
struct Predictability {
  std::size_t n = 0;
  std::size_t num_cheap = 0;
  // The least effective_number of all of them.
  double effective = 0;
  // Share of the expensive variance that a linear prediction from the cheap returns removes, each
  // return predicted from all others; at least 0. For one cheap simulator nearly rho^2.
  double r2 = 0;

  // Bounds of the multiple correlation at z standard errors, by Fisher's transformation. At least
  // the unseen part of the variance is taken to be left.
  double lower(double z) const;
  double upper(double z) const;
};

// Several samples, such as differences between policies, are judged together.
Predictability predictability(std::span<const PairedSample> samples);

// How often each cheap simulator is best run without the expensive one for every paired episode,
// and the variance that results, divided by that of plain Monte Carlo at the same cost. costs[i] is
// that of simulator i. Below 1 the cheap simulators pay.
struct NestedDesign {
  std::vector<double> free;  // [l], for each paired episode
  double error_at_equal_cost = 1;
};
NestedDesign best_nested_design(const Covariances& c, std::span<const double> costs);

// The same for n paired episodes that are there already: how `budget` is best spent on free
// episodes alone. Counts are not rounded.
std::vector<double> best_free_counts(const Covariances& c, std::span<const double> costs, double n,
                                     double budget);

// The covariances with those between the expensive simulator and the cheap ones scaled, so that the
// multiple correlation becomes `correlation`.
Covariances with_correlation(const Covariances& c, double correlation);

}  // namespace hilo
