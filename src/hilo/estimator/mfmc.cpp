#include "hilo/estimator/mfmc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "hilo/estimator/detail/require_plan.hpp"

namespace hilo {
namespace {

constexpr double kAlmostOne = 1 - 1e-12;  // of a squared correlation: identical simulators

struct Ordered {
  std::vector<std::size_t> simulators;
  std::vector<double> rho2;  // of each with the expensive one, 1 first, and 0 behind the last
};

Ordered order(const Covariances& c, std::uint32_t chosen) {
  Ordered out{.simulators = {0}, .rho2 = {1}};
  for (std::size_t l = 1; l < c.size(); ++l)
    if ((chosen >> l & 1U) != 0) out.simulators.push_back(l);
  const auto rho2 = [&](std::size_t l) {
    const double rho = c.correlation(0, l);
    return std::min(rho * rho, kAlmostOne);
  };
  std::stable_sort(out.simulators.begin() + 1, out.simulators.end(),
                   [&](std::size_t a, std::size_t b) { return rho2(a) > rho2(b); });
  for (std::size_t k = 1; k < out.simulators.size(); ++k)
    out.rho2.push_back(rho2(out.simulators[k]));
  out.rho2.push_back(0);
  return out;
}

double cost_of(const MfmcPlan& plan, std::span<const double> costs) {
  double cost = 0;
  for (std::size_t k = 0; k < plan.counts.size(); ++k)
    cost += plan.counts[k] * costs[plan.simulators[k]];
  return cost;
}

double variance_of(const Covariances& c, const MfmcPlan& plan) {
  double out = c.variance(0) / plan.counts[0];
  for (std::size_t k = 1; k < plan.counts.size(); ++k) {
    const double rho = c.correlation(0, plan.simulators[k]);
    out -= (1 / plan.counts[k - 1] - 1 / plan.counts[k]) * rho * rho * c.variance(0);
  }
  return std::max(out, 0.0);
}

// Whole numbers from below, then one more sample at a time where it helps most for its cost.
void round_counts(const Covariances& c, std::span<const double> costs, double budget,
                  MfmcPlan& plan) {
  for (double& count : plan.counts) count = std::max(1.0, std::floor(count * (1 + 1e-12)));
  while (true) {
    const double now = variance_of(c, plan);
    std::optional<std::size_t> best;
    double best_gain = 0;
    for (std::size_t k = 0; k < plan.counts.size(); ++k) {
      const double cost = costs[plan.simulators[k]];
      if (cost_of(plan, costs) + cost > budget * (1 + 1e-12)) continue;
      if (k + 1 < plan.counts.size() && plan.counts[k] + 1 > plan.counts[k + 1]) continue;
      plan.counts[k] += 1;
      const double gain = (now - variance_of(c, plan)) / cost;
      plan.counts[k] -= 1;
      if (gain > best_gain) {
        best_gain = gain;
        best = k;
      }
    }
    if (!best) return;
    plan.counts[*best] += 1;
  }
}

std::optional<MfmcPlan> plan_of(const Covariances& c, std::span<const double> costs, double budget,
                                const Ordered& by, bool rounded) {
  MfmcPlan plan{.simulators = by.simulators};
  std::vector<double> ratios = {1};
  for (std::size_t k = 1; k < by.simulators.size(); ++k) {
    const double gap = by.rho2[k] - by.rho2[k + 1];
    if (!(gap > 0)) return std::nullopt;
    // The condition, for this simulator and the one before it.
    if (!(costs[by.simulators[k - 1]] * gap >
          costs[by.simulators[k]] * (by.rho2[k - 1] - by.rho2[k])))
      return std::nullopt;
    ratios.push_back(std::sqrt(costs[0] / costs[by.simulators[k]] * gap / (1 - by.rho2[1])));
  }
  double cost = 0;
  for (std::size_t k = 0; k < ratios.size(); ++k) cost += ratios[k] * costs[by.simulators[k]];
  for (const double ratio : ratios) plan.counts.push_back(ratio * budget / cost);
  if (rounded) {
    round_counts(c, costs, budget, plan);
    if (cost_of(plan, costs) > budget * (1 + 1e-12)) return std::nullopt;
  }
  for (std::size_t k = 1; k < by.simulators.size(); ++k)
    plan.coefficients.push_back(c(0, by.simulators[k]) / c.variance(by.simulators[k]));
  plan.cost = cost_of(plan, costs);
  plan.variance = variance_of(c, plan);
  return plan;
}

}  // namespace

MfmcPlan mfmc_plan(const Covariances& c, std::span<const double> costs, double budget,
                   bool rounded) {
  require_plan(c, costs, budget);
  std::optional<MfmcPlan> best;
  for (std::uint32_t chosen = 0; chosen < 1U << c.size(); chosen += 2) {
    const auto plan = plan_of(c, costs, budget, order(c, chosen), rounded);
    if (plan && (!best || plan->variance < best->variance)) best = plan;
  }
  return *best;  // without a cheap simulator there is always one
}

}  // namespace hilo
