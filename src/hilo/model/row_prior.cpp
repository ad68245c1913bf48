#include "hilo/model/row_prior.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "hilo/core/portable_math.hpp"

namespace hilo {
namespace {

constexpr std::uint32_t kOutlierBase = 2;  // strengths (0, 1)
// The smallest likelihood: no component is ruled out for good, and none underflows.
constexpr double kLeast = 1e-30;
constexpr double kLog2 = 0.693147180559945309417232;

}  // namespace

RowPrior::Evidence RowPrior::no_evidence() {
  Evidence row;
  row.fill(1);
  return row;
}

// Before any data, the low fidelity is trusted.
RowPrior::RowPrior(bool with_low)
    : with_low_(with_low), place_{with_low ? 5U : 0U, with_low ? 2U : 5U, 1} {}

void RowPrior::observe(double count, double total, std::optional<double> p_low, double p_base,
                       Evidence& row) {
  std::array<double, std::tuple_size_v<Evidence>> likelihood;
  for (std::size_t g = 0; g < row.size(); ++g) {
    const double low = p_low ? kLow[g / kBase.size()] : 0;
    const double base = kBase[g % kBase.size()];
    likelihood[g] =
        row[g] * (count + low * p_low.value_or(0) + base * p_base) / (total + low + base);
  }
  const double largest = *std::ranges::max_element(likelihood);
  for (std::size_t g = 0; g < row.size(); ++g)
    row[g] = static_cast<float>(std::max(kLeast, likelihood[g] / largest));
}

RowPrior::Weights RowPrior::weights(double total, bool has_low, const Evidence& row) const {
  Weights mean;
  double sum = 0;
  const auto add = [&](const Place& place, double share) {
    const double low = has_low ? kLow[place.low] : 0;
    const double base = kBase[place.base];
    const double strength = total + low + base;
    share *= row[index(place)];
    sum += share;
    mean.count += share / strength;
    mean.low += share / strength * low;
    mean.base += share / strength * base;
    mean.variance += share / (strength + 1);
  };
  const double outliers = kOutliers[place_.outliers];
  add(place_, 1 - outliers);
  add({0, kOutlierBase, 0}, outliers);
  return {mean.count / sum, mean.low / sum, mean.base / sum, mean.variance / sum};
}

bool RowPrior::allowed(const Place& place) const {
  return place.low < (with_low_ ? kLow.size() : 1) && place.base < kBase.size() &&
         place.outliers < kOutliers.size();
}

// The product over rows is kept as mantissa and exponent, so that one logarithm is enough.
double RowPrior::log_likelihood(const Place& place, std::span<const Evidence> rows,
                                std::span<const std::uint8_t> kinds, std::uint8_t kind) {
  const std::size_t main = index(place), outlier = index({0, kOutlierBase, 0});
  const double outliers = kOutliers[place.outliers];
  double mantissa = 1, exponents = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (!kinds.empty() && kinds[k] != kind) continue;
    const Evidence& row = rows[k];
    int exponent = 0;
    mantissa =
        std::frexp(mantissa * ((1 - outliers) * row[main] + outliers * row[outlier]), &exponent);
    exponents += exponent;
  }
  return portable_log(mantissa) + kLog2 * exponents;
}

void RowPrior::refit(std::span<const Evidence> rows, std::span<const std::uint8_t> kinds,
                     std::uint8_t kind) {
  constexpr int kSteps[][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},   {0, -1, 0}, {0, 0, 1},
                               {0, 0, -1}, {1, 1, 0},  {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}};
  double best = log_likelihood(place_, rows, kinds, kind);
  for (bool climbs = true; climbs;) {
    climbs = false;
    const Place from = place_;
    for (const auto& step : kSteps) {
      // A step below zero wraps around and is not allowed.
      const Place to = {from.low + static_cast<std::uint32_t>(step[0]),
                        from.base + static_cast<std::uint32_t>(step[1]),
                        from.outliers + static_cast<std::uint32_t>(step[2])};
      if (!allowed(to)) continue;
      const double likelihood = log_likelihood(to, rows, kinds, kind);
      if (likelihood <= best) continue;
      best = likelihood;
      place_ = to;
      climbs = true;
    }
  }
}

void RowPrior::load(ArchiveReader& in) {
  const auto place = in.value<Place>();
  if (!allowed(place)) ArchiveReader::mismatch("prior strength");
  place_ = place;
}

}  // namespace hilo
