#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hilo/report/statistics.hpp"

namespace hilo {

// The percentile bootstrap over seeds. One object serves all agents of a problem: they see the same
// resamples, so that what the agents of a seed have in common stays in common. Drawn from a fixed
// stream, so that the same results always give the same intervals.
class Bootstrap {
 public:
  static constexpr std::size_t kResamples = 2000;

  explicit Bootstrap(std::size_t num_seeds, std::size_t resamples = kResamples);

  std::size_t resamples() const { return places_.size() / num_seeds_; }

  // The places of the seeds in resample b, num_seeds of them.
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

// The 95 % limits among the statistics of resamples: order statistics, not interpolated, so that
// infinite ones may be among them.
Interval percentile_interval(std::vector<double> statistics);

}  // namespace hilo
