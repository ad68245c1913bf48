#include "hilo/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hilo {

double quantile(std::span<const double> sorted, double p) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = place - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

Quartiles quartiles(std::vector<double> values) {
  std::ranges::sort(values);
  return {quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
}

Box box_plot(std::vector<double> values) {
  std::ranges::sort(values);
  Box box{.quartiles = quartiles(values), .outliers = {}};
  const double q1 = box.quartiles.q1;
  const double q3 = box.quartiles.q3;
  box.low_whisker = q1;
  box.high_whisker = q3;
  const double reach = 1.5 * (q3 - q1);
  for (const double value : values)
    if (value < q1 - reach || value > q3 + reach) {
      box.outliers.push_back(value);
    } else {
      box.low_whisker = std::min(box.low_whisker, value);
      box.high_whisker = std::max(box.high_whisker, value);
    }
  return box;
}

double interquartile_mean(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(values);
  const std::size_t cut = values.size() / 4;
  double sum = 0;
  for (std::size_t i = cut; i < values.size() - cut; ++i) sum += values[i];
  return sum / static_cast<double>(values.size() - 2 * cut);
}

double probability_of_improvement(std::span<const double> x, std::span<const double> y) {
  double wins = 0;
  for (std::size_t i = 0; i < x.size(); ++i) wins += x[i] > y[i] ? 1 : (x[i] == y[i] ? 0.5 : 0);
  return x.empty() ? std::numeric_limits<double>::quiet_NaN()
                   : wins / static_cast<double>(x.size());
}

Interval wilson_interval(double share, std::uint64_t n) {
  const double z2 = 1.959963984540054 * 1.959963984540054;
  const auto count = static_cast<double>(n);
  const double centre = (share + z2 / (2 * count)) / (1 + z2 / count);
  const double half =
      std::sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count * count))) / (1 + z2 / count);
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

double area_under_curve(std::span<const std::uint64_t> episodes, std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (values.size() == 1) return values[0];
  double area = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    area += (values[i] + values[i - 1]) / 2 * static_cast<double>(episodes[i] - episodes[i - 1]);
  return area / static_cast<double>(episodes[values.size() - 1] - episodes[0]);
}

std::optional<double> first_reach(std::span<const std::uint64_t> episodes,
                                  std::span<const double> values, double level) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < level) continue;
    if (i == 0) return static_cast<double>(episodes[0]);
    const double share = (level - values[i - 1]) / (values[i] - values[i - 1]);
    const auto before = static_cast<double>(episodes[i - 1]);
    return before + share * (static_cast<double>(episodes[i]) - before);
  }
  return std::nullopt;
}

}  // namespace hilo
