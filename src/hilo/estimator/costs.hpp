#pragma once

#include <vector>

namespace hilo {

// Whether a low-fidelity simulator pays, for an unbiased control variate. w is the cost of a
// high-fidelity return divided by that of a low-fidelity one, rho their correlation.

// The best number of low-fidelity returns for each high-fidelity one, coupled ones included,
// r* = sqrt(w rho^2 / (1 - rho^2)) (Peherstorfer, Willcox and Gunzburger 2016); at least 1.
double best_ratio(double rho, double w);

// The squared error with the best ratio, divided by that of plain Monte Carlo at the same total
// cost: (sqrt(1 - rho^2) + |rho| / sqrt(w))^2. The low fidelity pays if this is below 1. Where
// best_ratio is 1, only the cost of the coupled returns remains, 1 + 1 / w.
double error_at_equal_cost(double rho, double w);

// The w above which the low fidelity pays, rho^2 / (1 - sqrt(1 - rho^2))^2; infinite without
// correlation.
double break_even_cost_ratio(double rho);

// The same for an estimator whose error, bias included, is known as a curve: error[i] is its
// expected squared error divided by that of plain Monte Carlo with the same high-fidelity returns,
// given free[i] free returns for each coupled one.
struct ErrorCurve {
  std::vector<double> free, error;
};

// The number of free returns for each coupled one that gives the least error at equal cost, and
// that error divided by the error of plain Monte Carlo at the same cost: error (1 + free / w).
struct BestMix {
  double free;
  double error_at_equal_cost;
};
BestMix best_mix(const ErrorCurve& curve, double w);

// The w above which the best mix pays; infinite if it never does.
double break_even_cost_ratio(const ErrorCurve& curve);

}  // namespace hilo
