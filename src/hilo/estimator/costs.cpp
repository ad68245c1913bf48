#include "hilo/estimator/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

void check(double rho, double w) {
  if (!(std::abs(rho) <= 1))
    throw Error(Errc::usage, fmt::format("correlation is {}, but must be in [-1, 1]", rho));
  if (!(w > 0) || !std::isfinite(w))
    throw Error(Errc::usage, fmt::format("cost ratio is {}, but must be above 0", w));
}

}  // namespace

double best_ratio(double rho, double w) {
  check(rho, w);
  if (rho * rho >= 1) return std::numeric_limits<double>::infinity();
  return std::max(1.0, std::sqrt(w * rho * rho / (1 - rho * rho)));
}

double error_at_equal_cost(double rho, double w) {
  check(rho, w);
  // With one low-fidelity return for each high-fidelity one there are no free returns, and so
  // nothing to correct with.
  if (best_ratio(rho, w) <= 1) return 1 + 1 / w;
  const double root = std::sqrt(1 - rho * rho) + std::abs(rho) / std::sqrt(w);
  return root * root;
}

double break_even_cost_ratio(double rho) {
  check(rho, 1);
  if (rho == 0) return std::numeric_limits<double>::infinity();
  const double root = 1 - std::sqrt(1 - rho * rho);
  return rho * rho / (root * root);
}

BestMix best_mix(const ErrorCurve& curve, double w) {
  BestMix best{0, std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < curve.free.size(); ++i) {
    const double error = curve.error[i] * (1 + curve.free[i] / w);
    if (error < best.error_at_equal_cost) best = {curve.free[i], error};
  }
  return best;
}

// The estimator pays if error (1 + free / w) < 1 at some point: w > free error / (1 - error).
double break_even_cost_ratio(const ErrorCurve& curve) {
  double w = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < curve.free.size(); ++i)
    if (curve.error[i] < 1) {
      const double error = std::max(curve.error[i], 0.0);
      w = std::min(w, curve.free[i] * error / (1 - error));
    }
  return w;
}

}  // namespace hilo
