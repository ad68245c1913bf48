#include "hilo/report/bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/core/random.hpp"

namespace hilo {
namespace {

constexpr std::uint64_t kStreamSeed = 0;

}  // namespace

Bootstrap::Bootstrap(std::size_t num_seeds, std::size_t resamples)
    : num_seeds_(std::max<std::size_t>(num_seeds, 1)) {
  places_.reserve(num_seeds_ * resamples);
  for (std::uint32_t b = 0; b < resamples; ++b) {
    Rng rng(Stream(kStreamSeed, Purpose::bootstrap, b));
    for (std::size_t i = 0; i < num_seeds_; ++i)
      places_.push_back(scale_below(rng.u32(), static_cast<std::uint32_t>(num_seeds_)));
  }
}

Interval Bootstrap::interval(
    const std::function<double(std::span<const std::uint32_t> places)>& statistic) const {
  std::vector<double> statistics;
  statistics.reserve(resamples());
  for (std::size_t b = 0; b < resamples(); ++b) statistics.push_back(statistic(resample(b)));
  return percentile_interval(std::move(statistics));
}

Interval percentile_interval(std::vector<double> statistics) {
  if (statistics.empty()) return {};
  std::ranges::sort(statistics);
  const auto last = static_cast<double>(statistics.size() - 1);
  return {statistics[static_cast<std::size_t>(std::floor(0.025 * last))],
          statistics[static_cast<std::size_t>(std::ceil(0.975 * last))]};
}

}  // namespace hilo
