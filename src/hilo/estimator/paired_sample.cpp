#include "hilo/estimator/paired_sample.hpp"

#include <algorithm>
#include <cmath>

namespace hilo {

double Covariances::correlation(std::size_t i, std::size_t k) const {
  const double scale = std::sqrt(variance(i) * variance(k));
  return scale > 0 ? std::clamp((*this)(i, k) / scale, -1.0, 1.0) : 0;
}

Covariances Covariances::of(const std::vector<std::size_t>& chosen) const {
  Covariances out(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    for (std::size_t k = i; k < chosen.size(); ++k) out.set(i, k, (*this)(chosen[i], chosen[k]));
  return out;
}

PairedSample PairedSample::of(const std::vector<std::size_t>& cheap) const {
  PairedSample out{.high = high, .low = {}, .free = {}};
  for (const std::size_t l : cheap) {
    out.low.push_back(low[l]);
    out.free.push_back(free[l]);
  }
  return out;
}

namespace {

// Where most values are equal, as when an episode fails or not, the others are events. A value that
// more than half of them have is their median.
constexpr double kEventShare = 0.25;

double number_of_events(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  const double usual = *middle;
  return static_cast<double>(std::ranges::count_if(values, [&](double x) { return x != usual; }));
}

}  // namespace

double effective_number(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double x : values) mean += x / n;
  double squares = 0, fourths = 0;
  for (const double x : values) {
    const double d2 = (x - mean) * (x - mean);
    squares += d2;
    fourths += d2 * d2;
  }
  const double events = number_of_events(values);
  if (events == 0 || !(fourths > 0)) return n;
  const double like_normal = std::min(n, 3 * squares * squares / fourths);
  return events <= kEventShare * n ? std::min(like_normal, events) : like_normal;
}

bool replace_far_values(PairedSample& sample) {
  constexpr double kFar = 3;  // interquartile ranges beyond the quartiles
  bool changed = false;
  for (std::size_t l = 0; l < sample.num_cheap(); ++l) {
    std::vector<double> sorted = sample.low[l];
    if (sorted.size() < 4) continue;
    std::ranges::sort(sorted);
    const auto at = [&](std::size_t quarter) { return sorted[quarter * (sorted.size() - 1) / 4]; };
    const double range = at(3) - at(1);
    if (!(range > 0)) continue;  // most values are equal, and the others are what matters
    const double low = at(1) - kFar * range, high = at(3) + kFar * range;
    for (auto* values : {&sample.low[l], &sample.free[l]})
      for (double& x : *values)
        if (x < low || x > high) {
          x = at(2);
          changed = true;
        }
  }
  return changed;
}

Covariances covariances_of(const PairedSample& sample) {
  const std::size_t n = sample.high.size();
  const std::size_t size = sample.num_cheap() + 1;
  Covariances out(size);
  if (n < 2) return out;
  const auto values = [&](std::size_t i) -> const std::vector<double>& {
    return i == 0 ? sample.high : sample.low[i - 1];
  };
  std::array<double, Covariances::kMost> means = {};
  for (std::size_t i = 0; i < size; ++i) {
    for (const double x : values(i)) means[i] += x;
    means[i] /= static_cast<double>(n);
  }
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t k = i; k < size; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j)
        sum += (values(i)[j] - means[i]) * (values(k)[j] - means[k]);
      out.set(i, k, sum / static_cast<double>(n - 1));
    }
  return out;
}

Covariances covariances_of(std::span<const PairedSample> samples) {
  Covariances out = covariances_of(samples.front());
  for (std::size_t k = 1; k < samples.size(); ++k) {
    const Covariances c = covariances_of(samples[k]);
    for (std::size_t i = 0; i < c.size(); ++i)
      for (std::size_t j = i; j < c.size(); ++j) out.set(i, j, out(i, j) + c(i, j));
  }
  return out;
}

}  // namespace hilo
