#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hilo/report/statistics.hpp"

namespace hilo {

// The percentile bootstrap over seeds. All agents of a problem use one object and thus the same
// resamples, so that differences between agents stay paired by seed. The resamples come from a
// fixed random stream, so that the same results always give the same intervals.
class Bootstrap {
 public:
  static constexpr std::size_t kResamples = 2000;

  explicit Bootstrap(std::size_t num_seeds, std::size_t resamples = kResamples);

  std::size_t resamples() const { return places_.size() / num_seeds_; }

  // The indices of the num_seeds seeds in resample b.
  std::span<const std::uint32_t> resample(std::size_t b) const {
    return std::span(places_).subspan(b * num_seeds_, num_seeds_);
  }

  // The middle 95 % of the statistic over all resamples. Infinite values are allowed.
  Interval interval(
      const std::function<double(std::span<const std::uint32_t> places)>& statistic) const;

 private:
  std::size_t num_seeds_;
  std::vector<std::uint32_t> places_;
};

// The 95 % interval of the statistics of resamples. Its limits are order statistics without
// interpolation, so that infinite values are allowed.
Interval percentile_interval(std::vector<double> statistics);

}  // namespace hilo
