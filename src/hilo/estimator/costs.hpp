#pragma once

#include <vector>

namespace hilo {

// Whether a cheap simulator pays, for an unbiased control variate: w is the cost of a high-fidelity
// return in low-fidelity ones, rho their correlation.

// The best number of low-fidelity returns for each high-fidelity one, coupled ones included,
// r* = sqrt(w rho^2 / (1 - rho^2)) (Peherstorfer, Willcox and Gunzburger 2016); at least 1.
double best_ratio(double rho, double w);

// Squared error at the same total cost, with the best ratio, against that of plain Monte Carlo:
// (sqrt(1 - rho^2) + |rho| / sqrt(w))^2. Below 1 it pays; where
// best_ratio is 1, only the price of the coupled returns is left, 1 + 1 / w.
double error_at_equal_cost(double rho, double w);

// The w beyond which it pays, rho^2 / (1 - sqrt(1 - rho^2))^2; infinite without correlation.
double break_even_cost_ratio(double rho);

// The same for an estimator whose error is known as a curve, bias and all: error[i] is its expected
// squared error over that of plain Monte Carlo with the same coupled returns, given free[i] free
// returns for each coupled one.
struct ErrorCurve {
  std::vector<double> free, error;
};

// The number of free returns for each coupled one with the least error for the money, and that
// error against plain Monte Carlo which spends the same: error (1 + free / w).
struct BestMix {
  double free;
  double error_at_equal_cost;
};
BestMix best_mix(const ErrorCurve& curve, double w);

// The w beyond which the best mix pays; infinite if it never does.
double break_even_cost_ratio(const ErrorCurve& curve);

}  // namespace hilo
