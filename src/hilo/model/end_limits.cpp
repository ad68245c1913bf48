#include "hilo/model/end_limits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostEnds = 10'000;  // more of them do not change a limit

}  // namespace

EndLimits::EndLimits(std::size_t dimension)
    : least_(dimension, kFar), most_(dimension, -kFar), low_(dimension, -kFar), high_(least_) {}

void EndLimits::add(std::span<const double> state, bool ended) {
  if (ended) {
    if (ended_.size() < kMostEnds * state.size())
      ended_.insert(ended_.end(), state.begin(), state.end());
    return;
  }
  for (std::size_t d = 0; d < state.size(); ++d) {
    least_[d] = std::min(least_[d], state[d]);
    most_[d] = std::max(most_[d], state[d]);
  }
}

// Each end is put down to the coordinate that is furthest outside of where episodes went on.
void EndLimits::fit() {
  const std::size_t dimension = least_.size();
  low_.assign(dimension, -kFar);
  high_.assign(dimension, kFar);
  std::vector<double> first_low(dimension, -kFar), first_high(dimension, kFar);
  unexplained_ = 0;
  for (std::size_t k = 0; k + dimension <= ended_.size(); k += dimension) {
    double furthest = 0;
    std::size_t which = dimension;
    for (std::size_t d = 0; d < dimension; ++d) {
      const double width = most_[d] - least_[d];
      const double outside = std::max(ended_[k + d] - most_[d], least_[d] - ended_[k + d]);
      if (width > 0 && outside / width > furthest) {
        furthest = outside / width;
        which = d;
      }
    }
    if (which == dimension) {
      ++unexplained_;
      continue;
    }
    const double x = ended_[k + which];
    if (x > most_[which])
      first_high[which] = std::min(first_high[which], x);
    else
      first_low[which] = std::max(first_low[which], x);
  }
  for (std::size_t d = 0; d < dimension; ++d) {
    if (first_high[d] < kFar) high_[d] = 0.5 * (most_[d] + first_high[d]);
    if (first_low[d] > -kFar) low_[d] = 0.5 * (least_[d] + first_low[d]);
  }
}

void EndLimits::mark(const Columns& states, std::span<std::uint8_t> done) const {
  for (std::size_t d = 0; d < low_.size(); ++d) {
    if (low_[d] == -kFar && high_[d] == kFar) continue;
    const double* row = states.row(d);
    for (std::size_t i = 0; i < states.count(); ++i)
      if (row[i] < low_[d] || row[i] > high_[d]) done[i] = 1;
  }
}

EndLimits EndLimits::from(std::vector<double> least, std::vector<double> most,
                          std::vector<double> ended) {
  EndLimits out(least.size());
  const auto bad = [](double x) { return std::isnan(x); };
  if (most.size() != least.size() || least.empty() || ended.size() % least.size() != 0 ||
      std::ranges::any_of(least, bad) || std::ranges::any_of(most, bad) ||
      !std::ranges::all_of(ended, [](double x) { return std::isfinite(x); }))
    throw Error(Errc::data, "the saved state has limits of episodes that do not fit together");
  out.least_ = std::move(least);
  out.most_ = std::move(most);
  out.ended_ = std::move(ended);
  out.fit();
  return out;
}

}  // namespace hilo
