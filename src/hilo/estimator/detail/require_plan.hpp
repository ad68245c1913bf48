#pragma once

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "hilo/core/error.hpp"
#include "hilo/estimator/paired_sample.hpp"

// For the sources of this folder only.
namespace hilo {

// Throws Errc::usage unless there is a positive cost for every simulator and the budget pays for
// one expensive sample.
inline void require_plan(const Covariances& c, std::span<const double> costs, double budget) {
  if (costs.size() != c.size())
    throw Error(Errc::usage,
                fmt::format("there are {} costs, but {} simulators", costs.size(), c.size()));
  for (const double cost : costs)
    if (!(cost > 0) || !std::isfinite(cost))
      throw Error(Errc::usage, fmt::format("a cost is {}, but must be positive", cost));
  if (!(budget >= costs[0]) || !std::isfinite(budget))
    throw Error(Errc::usage, fmt::format("the budget is {}, but an expensive sample costs {}",
                                         budget, costs[0]));
}

}  // namespace hilo
