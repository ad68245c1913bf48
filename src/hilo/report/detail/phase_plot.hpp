#pragma once

#include <string>
#include <vector>

#include "hilo/core/moments.hpp"
#include "hilo/report/detail/plot.hpp"
#include "hilo/report/detail/vector_view.hpp"

// For the sources of report/ only.
namespace hilo {

// What expensive episodes have seen of every coordinate.
class SeenCoordinates {
 public:
  void add(const Points& observations, std::size_t dimension);
  double mean(std::size_t d) const { return moments_[d].mean(); }
  double deviation(std::size_t d) const;
  const Range& range(std::size_t d) const { return ranges_[d]; }
  std::size_t dimension() const { return ranges_.size(); }

 private:
  std::vector<Moments> moments_;
  std::vector<Range> ranges_;
};

// What a policy does in a plane through the space of states.
struct PhasePlane {
  std::size_t x = 0, y = 0;  // coordinates
  Range x_range, y_range;
  std::vector<double> others;  // values of all coordinates; those of x and y are not used
};

// Angle and velocity of a built-in system, with the rest at 0; else the two coordinates that move
// most, with the others at their means. At least two coordinates are needed.
PhasePlane phase_plane(const VectorView& view, const Space& observations,
                       const SeenCoordinates& seen);

// The policy's first action over the plane as a map, and the path of an episode upon it.
std::string phase_plot(const VectorView& view, const Policy& policy, const PhasePlane& plane,
                       const VectorEpisode& path);

}  // namespace hilo
