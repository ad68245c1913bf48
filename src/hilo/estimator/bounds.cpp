#include "hilo/estimator/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

void require_positive(const char* what, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw Error(Errc::usage, fmt::format("{} is {}, but must be above 0 and finite", what, value));
}

void check(const Bounded& x) {
  require_positive("variance", x.variance);
  require_positive("b", x.b);
  // A variable that is always within b of its mean has a variance of at most b^2.
  if (x.variance > x.b * x.b * (1 + 1e-12))
    throw Error(Errc::usage,
                fmt::format("variance is {}, but must be at most b^2 = {}", x.variance, x.b * x.b));
}

}  // namespace

double return_bound(double reward_min, double reward_max, double gamma) {
  if (!(reward_min <= reward_max) || !std::isfinite(reward_max - reward_min))
    throw Error(Errc::usage,
                fmt::format("rewards are between {} and {}, but these must be a lower and an upper "
                            "bound, and finite",
                            reward_min, reward_max));
  if (!(gamma >= 0 && gamma < 1))
    throw Error(Errc::usage, fmt::format("gamma is {}, but must be in [0, 1)", gamma));
  return (std::max(reward_max, 0.0) - std::min(reward_min, 0.0)) / (1 - gamma);
}

Bounded control_variate_of(const Bounded& high, double rho, double alpha, double b_low) {
  if (!(std::abs(rho) <= 1))
    throw Error(Errc::usage, fmt::format("correlation is {}, but must be in [-1, 1]", rho));
  return {(1 - rho * rho) * high.variance, high.b + std::abs(alpha) * b_low};
}

double range_of_lemma_1(const Bounded& x) { return x.variance / x.b; }

double tail_bound(const Bounded& x, double n, double xi) {
  check(x);
  require_positive("n", n);
  require_positive("xi", xi);
  const double exponent = xi <= range_of_lemma_1(x)
                              ? n * xi * xi / (4 * x.variance)
                              : n * xi / (2 * x.b) - n * x.variance / (4 * x.b * x.b);
  return std::min(1.0, 2 * std::exp(-exponent));
}

namespace {

void check_delta(double delta) {
  if (!(delta > 0 && delta < 1))
    throw Error(Errc::usage, fmt::format("delta is {}, but must be in (0, 1)", delta));
}

}  // namespace

double samples_needed_within_lemma_1(double variance, double xi, double delta) {
  require_positive("xi", xi);
  check_delta(delta);
  return std::max(1.0, std::ceil(4 * variance / (xi * xi) * std::log(2 / delta)));
}

double samples_needed(const Bounded& x, double xi, double delta) {
  check(x);
  require_positive("xi", xi);
  if (xi <= range_of_lemma_1(x)) return samples_needed_within_lemma_1(x.variance, xi, delta);
  check_delta(delta);
  return std::max(1.0,
                  std::ceil(std::log(2 / delta) / (xi / (2 * x.b) - x.variance / (4 * x.b * x.b))));
}

double greedy_is_best_bound(double best_variance, std::span<const Rival> rivals) {
  double bound = 1;
  for (const Rival& rival : rivals) {
    require_positive("gap", rival.gap);
    const double square = rival.gap * rival.gap;
    bound *= square / (square + best_variance + rival.variance);
  }
  return bound;
}

}  // namespace hilo
