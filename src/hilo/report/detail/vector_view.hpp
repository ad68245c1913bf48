#pragma once

#include <string>
#include <vector>

#include "hilo/env/control/control.hpp"

// For the sources of report/ only: how problems whose states are vectors are shown.
namespace hilo {

// What pictures need to know of a problem.
struct VectorView {
  const ControlSimulator* system = nullptr;  // null: it is none of the built-in ones
  std::vector<std::string> coordinates;      // their names
  std::vector<std::string> actions;          // the same; one name if they are discrete
  std::vector<std::size_t> angles;           // coordinates, rising
  // Coordinates that are shown against each other; fewer than two: those that move most.
  std::vector<std::size_t> plane;

  bool is_angle(std::size_t coordinate) const;
  // "t = 1.2 s", or "step 24".
  std::string time(std::size_t step) const;
};

// The view is valid as long as the simulator.
VectorView view_of(const VectorSimulator& simulator);

// A coordinate of point i, or its index if the space is discrete.
double number_of(const Points& points, std::size_t i, std::size_t coordinate);

}  // namespace hilo
