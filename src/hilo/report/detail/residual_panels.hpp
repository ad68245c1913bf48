#pragma once

#include <span>
#include <string>
#include <vector>

#include "hilo/agent/corrected.hpp"
#include "hilo/report/detail/vector_view.hpp"

// For the sources of report/ only.
namespace hilo {

// The residual of one coordinate in one step, as it came and as the model predicts it.
struct ResidualPoint {
  double seen = 0, mean = 0, deviation = 0;

  double half_width() const { return 1.959963984540054 * deviation; }  // of the 95 % interval
  bool is_inside() const { return std::abs(seen - mean) <= half_width(); }
};

struct ResidualPanel {
  std::string name;
  std::vector<ResidualPoint> points;

  std::size_t inside() const;
};

// One for each coordinate that has a residual, and for the reward if it has one. Steps whose next
// coordinate was cut at a bound are left out of it; of many steps, evenly chosen ones are taken.
std::vector<ResidualPanel> residual_panels(const VectorView& view, const Corrected& agent,
                                           std::span<const VectorEpisode> episodes);

// The prediction with its error bar against what was seen, beside the line where they are equal.
std::string residual_picture(const ResidualPanel& panel);

}  // namespace hilo
