#include "hilo/report/detail/vector_view.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hilo {
namespace {

std::vector<std::string> numbered(const char* name, const Space& space) {
  if (space.is_discrete()) return {name};
  std::vector<std::string> out;
  for (std::size_t d = 0; d < space.dimension(); ++d) out.push_back(fmt::format("{} {}", name, d));
  return out;
}

void name_system(VectorView& view) {
  switch (view.system->options().system) {
    case ControlSystem::pendulum:
      view.coordinates = {"angle", "angular velocity"};
      view.actions = {"torque"};
      view.plane = {0, 1};
      break;
    case ControlSystem::cart_pole:
      view.coordinates = {"position", "velocity", "angle", "angular velocity"};
      view.actions = {"force"};
      view.plane = {2, 3};
      break;
    case ControlSystem::acrobot:
      view.coordinates = {"angle 1", "angle 2", "angular velocity 1", "angular velocity 2"};
      view.actions = {"torque"};
      view.plane = {0, 2};
      break;
  }
}

}  // namespace

bool VectorView::is_angle(std::size_t coordinate) const {
  return std::ranges::binary_search(angles, coordinate);
}

std::string VectorView::time(std::size_t step) const {
  if (system == nullptr) return fmt::format("step {}", step);
  return fmt::format("t = {:.4g} s", static_cast<double>(step) * system->options().time_step);
}

VectorView view_of(const VectorSimulator& simulator) {
  const auto angles = simulator.angles();
  VectorView view{.system = dynamic_cast<const ControlSimulator*>(&simulator),
                  .coordinates = numbered("coordinate", simulator.observation_space()),
                  .actions = numbered("action", simulator.action_space()),
                  .angles = {angles.begin(), angles.end()},
                  .plane = {}};
  if (view.system != nullptr) name_system(view);
  return view;
}

double number_of(const Points& points, std::size_t i, std::size_t coordinate) {
  const Point point = points[i];
  return point.coordinates().empty() ? static_cast<double>(point.index())
                                     : point.coordinates()[coordinate];
}

}  // namespace hilo
