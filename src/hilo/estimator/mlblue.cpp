#include "hilo/estimator/mlblue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hilo/estimator/detail/require_plan.hpp"
#include "hilo/estimator/detail/small_matrix.hpp"

namespace hilo {
namespace {

std::vector<std::size_t> members_of(const SampleGroup& group, std::size_t size) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < size; ++i)
    if (group.has(i)) out.push_back(i);
  return out;
}

// C_g^-1 of all simulators, with zeros for those that are not in the group.
SmallMatrix information(const Covariances& c, const SampleGroup& group) {
  const std::vector<std::size_t> members = members_of(group, c.size());
  const SmallMatrix inverse = inverse_scaled(matrix_of(c.of(members)));
  SmallMatrix out =
      SmallMatrix::Zero(static_cast<Eigen::Index>(c.size()), static_cast<Eigen::Index>(c.size()));
  for (std::size_t i = 0; i < members.size(); ++i)
    for (std::size_t k = 0; k < members.size(); ++k)
      out(static_cast<Eigen::Index>(members[i]), static_cast<Eigen::Index>(members[k])) =
          inverse(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
  return out;
}

// Psi^-1 e_0, with zeros for simulators that no group has.
SmallVector first_column(const SmallMatrix& psi) {
  SmallVector e = SmallVector::Zero(psi.rows());
  e[0] = 1;
  return solve_scaled(psi, e, 1e-13);
}

// The continuous problem is a c-optimal design: with the shares p_g = n_g c_g / budget of the
// budget, minimise e_0' Psi(p)^-1 e_0. The multiplicative algorithm (Torsney 1983)
//   p_g <- p_g sqrt(d_g) / sum,    d_g = x' C_g^-1 x / cost_g,   x = Psi^-1 e_0,
// lowers the variance in every step. By the equivalence theorem, max_g d_g / sum_g p_g d_g - 1
// bounds what is left to gain.
struct Design {
  std::vector<SampleGroup> groups;
  std::vector<SmallMatrix> per_cost;  // C_g^-1 / cost of the group
  std::vector<double> costs, shares;
};

Design optimal_design(const Covariances& c, std::span<const double> costs) {
  Design d;
  for (std::uint32_t members = 1; members < 1U << c.size(); ++members) {
    const SampleGroup group{.members = members};
    double cost = 0;
    bool varies = true;
    for (const std::size_t i : members_of(group, c.size())) {
      cost += costs[i];
      varies = varies && c.variance(i) > 0;
    }
    if (!varies) continue;  // a simulator whose returns are constant says nothing
    d.groups.push_back(group);
    d.costs.push_back(cost);
    d.per_cost.push_back(information(c, group) / cost);
  }
  d.shares.assign(d.groups.size(), 1 / static_cast<double>(d.groups.size()));
  constexpr int kMostSteps = 20'000;
  constexpr double kClose = 1e-7;
  std::vector<double> gains(d.groups.size());
  const auto size = static_cast<Eigen::Index>(c.size());
  for (int step = 0; step < kMostSteps; ++step) {
    SmallMatrix psi = SmallMatrix::Zero(size, size);
    for (std::size_t g = 0; g < d.groups.size(); ++g) psi += d.shares[g] * d.per_cost[g];
    const SmallVector x = first_column(psi);
    double mean = 0, most = 0;
    for (std::size_t g = 0; g < d.groups.size(); ++g) {
      gains[g] = std::max(0.0, x.dot(d.per_cost[g] * x));
      mean += d.shares[g] * gains[g];
      most = std::max(most, gains[g]);
    }
    if (!(most > mean * (1 + kClose))) break;
    double sum = 0;
    for (std::size_t g = 0; g < d.groups.size(); ++g)
      sum += d.shares[g] *= std::sqrt(gains[g] / mean);
    for (double& share : d.shares) share /= sum;
  }
  return d;
}

double cost_of(const SampleGroup& group, std::span<const double> costs) {
  double cost = 0;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (group.has(i)) cost += costs[i];
  return cost;
}

// Whole numbers from below, then one more sample at a time where it lowers the variance most for
// its cost, as long as the budget allows.
void round_counts(const Covariances& c, std::span<const double> costs, double budget,
                  std::vector<SampleGroup>& groups) {
  double left = budget;
  for (SampleGroup& group : groups) {
    group.count = std::floor(group.count * (1 + 1e-12));
    left -= group.count * cost_of(group, costs);
  }
  while (true) {
    const double now = mlblue_variance(c, groups);
    SampleGroup* best = nullptr;
    double best_gain = 0;
    for (SampleGroup& group : groups) {
      const double cost = cost_of(group, costs);
      if (cost > left * (1 + 1e-12)) continue;
      group.count += 1;
      const double then = mlblue_variance(c, groups);
      group.count -= 1;
      // The first expensive sample makes an infinite variance finite.
      const double gain = std::isinf(now) ? (std::isinf(then) ? 1 : 1e300) : (now - then) / cost;
      if (gain > best_gain) {
        best_gain = gain;
        best = &group;
      }
    }
    if (best == nullptr) return;
    best->count += 1;
    left -= cost_of(*best, costs);
  }
}

}  // namespace

double mlblue_variance(const Covariances& c, std::span<const SampleGroup> groups) {
  const auto size = static_cast<Eigen::Index>(c.size());
  SmallMatrix psi = SmallMatrix::Zero(size, size);
  bool has_high = false;
  for (const SampleGroup& group : groups) {
    if (!(group.count > 0)) continue;
    has_high = has_high || group.has(0);
    psi += group.count * information(c, group);
  }
  if (!has_high) return std::numeric_limits<double>::infinity();
  return first_column(psi)[0];
}

std::vector<std::vector<double>> mlblue_weights(const Covariances& c,
                                                std::span<const SampleGroup> groups) {
  const auto size = static_cast<Eigen::Index>(c.size());
  SmallMatrix psi = SmallMatrix::Zero(size, size);
  for (const SampleGroup& group : groups)
    if (group.count > 0) psi += group.count * information(c, group);
  const SmallVector x = first_column(psi);
  std::vector<std::vector<double>> weights;
  for (const SampleGroup& group : groups) {
    const SmallVector all = group.count * (information(c, group) * x);
    weights.emplace_back();
    for (const std::size_t i : members_of(group, c.size()))
      weights.back().push_back(group.count > 0 ? all[static_cast<Eigen::Index>(i)] : 0);
  }
  return weights;
}

Allocation mlblue_allocation(const Covariances& c, std::span<const double> costs, double budget,
                             bool rounded) {
  require_plan(c, costs, budget);
  Allocation out;
  if (!(c.variance(0) > 0)) {
    out.groups = {{.members = 1, .count = std::floor(budget / costs[0])}};
  } else {
    const Design design = optimal_design(c, costs);
    constexpr double kNothing = 1e-6;  // of the budget: groups that only wait to vanish
    double used = 0;
    for (const double share : design.shares) used += share > kNothing ? share : 0;
    for (std::size_t g = 0; g < design.groups.size(); ++g)
      if (design.shares[g] > kNothing)
        out.groups.push_back({.members = design.groups[g].members,
                              .count = design.shares[g] / used * budget / design.costs[g]});
    if (rounded) {
      round_counts(c, costs, budget, out.groups);
      std::erase_if(out.groups, [](const SampleGroup& g) { return g.count == 0; });
    }
  }
  for (const SampleGroup& group : out.groups) out.cost += group.count * cost_of(group, costs);
  out.variance = c.variance(0) > 0 ? mlblue_variance(c, out.groups) : 0;
  return out;
}

}  // namespace hilo
