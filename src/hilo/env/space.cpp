#include "hilo/env/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {

Space Space::discrete(std::uint64_t size) {
  if (size == 0) throw Error(Errc::data, "a discrete space must have at least one element");
  Space space;
  space.size_ = size;
  return space;
}

Space Space::box(std::vector<double> low, std::vector<double> high) {
  if (low.empty() || low.size() != high.size())
    throw Error(Errc::data,
                fmt::format("a box needs as many lower as upper bounds, and at least one, but has "
                            "{} and {}",
                            low.size(), high.size()));
  for (std::size_t i = 0; i < low.size(); ++i)
    if (!(low[i] <= high[i]))  // or one of them is not a number
      throw Error(Errc::data, fmt::format("bounds of dimension {} of a box are {} and {}, but the "
                                          "first must not be above the second",
                                          i, low[i], high[i]));
  Space space;
  space.low_ = std::move(low);
  space.high_ = std::move(high);
  return space;
}

bool Space::contains(const Point& point) const {
  if (is_discrete()) return point.coordinates().empty() && point.index() < size_;
  const std::span<const double> x = point.coordinates();
  if (x.size() != dimension()) return false;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]) || x[i] < low_[i] || x[i] > high_[i]) return false;
  return true;
}

std::string Space::describe() const {
  if (is_discrete()) return fmt::format("a whole number from 0 to {}", size_ - 1);
  std::vector<std::string> sides;
  for (std::size_t i = 0; i < dimension(); ++i)
    sides.push_back(fmt::format("[{}, {}]", low_[i], high_[i]));
  return fmt::format("in the box {}", fmt::join(sides, " x "));
}

void Points::throw_bad_dimension(std::size_t given) const {
  const auto say = [](std::size_t dimension) {
    return dimension == 0 ? std::string("a whole number") : fmt::format("{} numbers", dimension);
  };
  throw Error(Errc::simulator, fmt::format("an observation or an action is {}, but must be {}",
                                           say(given), say(dimension_)));
}

void require_in_space(const Space& space, const Point& point, const char* what) {
  if (space.contains(point)) return;
  const std::string given = point.coordinates().empty()
                                ? fmt::format("{}", point.index())
                                : fmt::format("({})", fmt::join(point.coordinates(), ", "));
  throw Error(Errc::simulator,
              fmt::format("{} is {}, but must be {}", what, given, space.describe()));
}

}  // namespace hilo
