#include "hilo/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hilo {

double student_t_975(std::uint64_t degrees_of_freedom) {
  constexpr double kFew[] = {0, 12.70620, 4.302653, 3.182446, 2.776445, 2.570582};
  if (degrees_of_freedom < std::size(kFew)) return kFew[degrees_of_freedom];
  // The series of the quantile in 1 / nu (Abramowitz and Stegun 26.7.5); z is the normal quantile.
  const double z = 1.959963984540054;
  const double nu = static_cast<double>(degrees_of_freedom);
  const double z2 = z * z;
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + (g1 + (g2 + (g3 + g4 / nu) / nu) / nu) / nu;
}

Summary summarise(const Moments& values) {
  Summary summary{
      .n = values.count(), .mean = values.mean(), .low = values.mean(), .high = values.mean()};
  if (summary.n < 2) return summary;
  summary.sd = std::sqrt(values.variance());
  summary.standard_error = summary.sd / std::sqrt(static_cast<double>(summary.n));
  const double half = student_t_975(summary.n - 1) * summary.standard_error;
  summary.low -= half;
  summary.high += half;
  return summary;
}

Summary summarise(std::span<const double> values) {
  Moments moments;
  for (const double value : values) moments.add(value);
  return summarise(moments);
}

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
