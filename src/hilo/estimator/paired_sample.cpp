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
  return fourths > 0 ? std::min(n, 3 * squares * squares / fourths) : n;
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
