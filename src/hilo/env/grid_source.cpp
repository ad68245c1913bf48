#include "hilo/env/grid_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/env/policy.hpp"

namespace hilo {

Grid::Grid(std::vector<std::uint64_t> cells, std::vector<double> low, std::vector<double> high)
    : cells_(std::move(cells)), low_(std::move(low)), high_(std::move(high)) {
  if (cells_.size() != low_.size() || low_.size() != high_.size() || cells_.empty())
    throw Error(Errc::spec, fmt::format("there are numbers of cells for {} dimensions, but the box "
                                        "has {} lower and {} upper bounds",
                                        cells_.size(), low_.size(), high_.size()));
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    require_within("number of cells of a grid", cells_[i], 1, kMaxTableSize);
    if (!(std::isfinite(low_[i]) && std::isfinite(high_[i]) && low_[i] < high_[i]))
      throw Error(Errc::spec,
                  fmt::format("dimension {} of the box goes from {} to {}, but a grid needs finite "
                              "bounds: give grid_low and grid_high",
                              i, low_[i], high_[i]));
    size_ *= cells_[i];
    require_within("number of cells of a grid", size_, 1, kMaxTableSize);
  }
}

std::uint64_t Grid::cell_of(std::span<const double> point) const {
  std::uint64_t cell = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto n = static_cast<double>(cells_[i]);
    const double place = std::floor((point[i] - low_[i]) / (high_[i] - low_[i]) * n);
    cell = cell * cells_[i] + static_cast<std::uint64_t>(std::clamp(place, 0.0, n - 1));
  }
  return cell;
}

void Grid::centre_of(std::uint64_t cell, std::vector<double>& out) const {
  out.resize(cells_.size());
  for (std::size_t i = cells_.size(); i-- > 0;) {
    const auto n = static_cast<double>(cells_[i]);
    const auto place = static_cast<double>(cell % cells_[i]);
    out[i] = low_[i] + (high_[i] - low_[i]) * (place + 0.5) / n;
    cell /= cells_[i];
  }
}

namespace {

Space cells_or(const std::shared_ptr<const Grid>& grid, const Space& space) {
  return grid ? Space::discrete(grid->size()) : space;
}

}  // namespace

GridSource::GridSource(std::shared_ptr<StepSource> whole, std::shared_ptr<const Grid> states,
                       std::shared_ptr<const Grid> actions)
    : StepSource(cells_or(states, whole->observation_space()),
                 cells_or(actions, whole->action_space())),
      whole_(std::move(whole)),
      states_(std::move(states)),
      actions_(std::move(actions)),
      seen_(whole_->observation_space()) {}

void GridSource::take(const Points& seen, Points& out) const {
  if (seen.size() != 1)
    throw Error(Errc::simulator, "a simulator must give one observation at a time");
  if (states_)
    out.push_back(states_->cell_of(seen[0].coordinates()));
  else
    out.push_back(seen[0]);
}

Point GridSource::whole_point(const std::shared_ptr<const Grid>& grid, const Point& cell,
                              std::vector<double>& buffer) const {
  if (!grid) return cell;
  grid->centre_of(cell.index(), buffer);
  return Point(std::span<const double>(buffer));
}

void GridSource::reset(std::uint32_t seed, Points& out) {
  seen_.clear();
  whole_->reset(seed, seen_);
  take(seen_, out);
}

SourceStep GridSource::step(const Point& action, Points& out) {
  seen_.clear();
  const SourceStep step = whole_->step(whole_point(actions_, action, buffers_[0]), seen_);
  take(seen_, out);
  return step;
}

bool GridSource::put(const Point& observation, std::uint32_t seed) {
  return whole_->put(whole_point(states_, observation, buffers_[0]), seed);
}

double GridSource::reward(const Point& observation, const Point& action, const Point& next) {
  return whole_->reward(whole_point(states_, observation, buffers_[0]),
                        whole_point(actions_, action, buffers_[1]),
                        whole_point(states_, next, buffers_[2]));
}

}  // namespace hilo
