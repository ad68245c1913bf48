#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hilo/env/step_source.hpp"

namespace hilo {

// A box cut into cells of equal size. A point outside belongs to the nearest cell.
class Grid {
 public:
  // The number of cells in each dimension; `low` and `high` must be finite. Throws Errc::spec.
  Grid(std::vector<std::uint64_t> cells, std::vector<double> low, std::vector<double> high);

  std::uint64_t size() const { return size_; }
  std::size_t dimension() const { return cells_.size(); }
  std::uint64_t cell_of(std::span<const double> point) const;
  void centre_of(std::uint64_t cell, std::vector<double>& out) const;
  std::span<const std::uint64_t> cells() const { return cells_; }
  std::span<const double> low() const { return low_; }
  std::span<const double> high() const { return high_; }

 private:
  std::vector<std::uint64_t> cells_;
  std::vector<double> low_, high_;
  std::uint64_t size_ = 1;
};

// A source of vectors as one of numbered states and actions: cells of a grid. It is started in the
// middle of a cell. A space that is numbered already needs no grid.
class GridSource final : public StepSource {
 public:
  GridSource(std::shared_ptr<StepSource> whole, std::shared_ptr<const Grid> states,
             std::shared_ptr<const Grid> actions);

  void reset(std::uint32_t seed, Points& out) override;
  SourceStep step(const Point& action, Points& out) override;
  bool put(const Point& observation, std::uint32_t seed) override;
  double reward(const Point& observation, const Point& action, const Point& next) override;
  bool tells_rewards() override { return whole_->tells_rewards(); }
  const Grid* states() const { return states_.get(); }    // null: states are numbered
  const Grid* actions() const { return actions_.get(); }  // the same for actions
  void begin_to_end() noexcept override { whole_->begin_to_end(); }
  void enter() override { whole_->enter(); }
  void leave() noexcept override { whole_->leave(); }

 private:
  void take(const Points& seen, Points& out) const;
  Point whole_point(const std::shared_ptr<const Grid>& grid, const Point& cell,
                    std::vector<double>& buffer) const;

  std::shared_ptr<StepSource> whole_;
  std::shared_ptr<const Grid> states_, actions_;  // null: numbered already
  Points seen_;
  std::vector<double> buffers_[3];
};

}  // namespace hilo
