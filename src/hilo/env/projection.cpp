#include "hilo/env/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr std::array<std::pair<Projection, std::string_view>, 3> kNames = {{
    {Projection::simplex, "simplex"},
    {Projection::bisection, "bisection"},
    {Projection::clip, "clip"},
}};

// Walks the tree of the search: the draws u in [u_low, u_high) are those that reach the node
// [low, high], and a comparison with c[mid] splits them in two intervals.
void walk(std::span<const double> c, std::size_t low, std::size_t high, double u_low, double u_high,
          std::span<double> mass) {
  if (u_high <= u_low) return;
  if (low == high) {
    mass[low] = u_high - u_low;
    return;
  }
  const std::size_t mid = (low + high) / 2;
  walk(c, low, mid, u_low, std::min(u_high, c[mid]), mass);
  walk(c, mid + 1, high, std::max(u_low, c[mid]), u_high, mass);
}

}  // namespace

Projection projection_from_name(std::string_view name) {
  for (const auto& [projection, known] : kNames)
    if (name == known) return projection;
  throw Error(Errc::spec, fmt::format("projection is '{}', but must be one of simplex, bisection, "
                                      "clip",
                                      name));
}

std::string_view name_of(Projection projection) {
  for (const auto& [known, name] : kNames)
    if (projection == known) return name;
  return "?";
}

std::vector<double> projected(Projection projection, std::span<const double> row) {
  double sum = 0;
  double scale = 0;
  for (const double x : row) {
    sum += x;
    scale += std::abs(x);
  }
  // Entries that are not finite pass this check; project reports them.
  if (std::abs(sum - 1) > 1e-9 * std::max(scale, 1.0))
    throw Error(Errc::data, fmt::format("a row to be projected sums to {}, but must sum to one: "
                                        "divide it by its sum first",
                                        sum));
  std::vector<double> out(row.begin(), row.end());
  project(projection, out);
  return out;
}

void project(Projection projection, std::span<double> row) {
  if (row.empty() || !std::ranges::all_of(row, [](double x) { return std::isfinite(x); }))
    throw Error(Errc::data, "a row to be projected must be finite and not empty");
  switch (projection) {
    case Projection::simplex:
      project_onto_simplex(row);
      break;
    case Projection::bisection:
      project_by_bisection(row);
      break;
    case Projection::clip:
      project_by_clipping(row);
      break;
  }
  // This happens if a row does not sum to one, or if its entries exceed the precision of doubles.
  if (!std::ranges::all_of(row, [](double x) { return std::isfinite(x); }))
    throw Error(Errc::data, "a row to be projected must sum to one");
}

// The nearest point of the simplex is max(x - tau, 0) with tau such that it sums to 1. Michelot
// (1986): subtract the common excess, drop what falls below zero, repeat; ends after few rounds.
void project_onto_simplex(std::span<double> row) {
  double sum = 0;
  for (const double x : row) sum += x;
  double tau = (sum - 1) / static_cast<double>(row.size());
  for (std::size_t kept = row.size();;) {
    double kept_sum = 0;
    std::size_t now_kept = 0;
    for (const double x : row) {  // without a branch, which would often be mispredicted
      const bool keeps = x > tau;
      kept_sum += keeps ? x : 0.0;
      now_kept += keeps ? 1 : 0;
    }
    if (now_kept == kept || now_kept == 0) break;
    kept = now_kept;
    tau = (kept_sum - 1) / static_cast<double>(kept);
  }
  double total = 0;
  for (double& x : row) {
    x = std::max(x - tau, 0.0);
    total += x;
  }
  for (double& x : row) x /= total;  // removes the rounding error of huge entries
}

void project_by_bisection(std::span<double> row) {
  std::vector<double> cumulative(row.size());
  double sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) cumulative[i] = sum += row[i];
  std::ranges::fill(row, 0.0);
  walk(cumulative, 0, row.size() - 1, 0, 1, row);
}

void project_by_clipping(std::span<double> row) {
  double sum = 0;
  for (double& x : row) sum += x = std::max(x, 0.0);
  for (double& x : row) x /= sum;
}

std::size_t bisect(std::span<const double> cumulative, double u) {
  std::size_t low = 0;
  std::size_t high = cumulative.size() - 1;
  while (low < high) {
    const std::size_t mid = (low + high) / 2;
    if (u < cumulative[mid])
      high = mid;
    else
      low = mid + 1;
  }
  return low;
}

}  // namespace hilo
