#include "hilo/env/program/detail/checked_walk.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/core/random.hpp"
#include "hilo/core/stop_request.hpp"
#include "hilo/env/program/protocol.hpp"

namespace hilo {

std::string text_of(const Point& point) {
  std::string out;
  append_point(out, point);
  return out;
}

Path walk(StepSource& source, std::uint32_t seed, std::uint32_t most_steps) {
  Walk walk(source, seed);
  walk.reset(seed);
  for (std::uint32_t t = 0; t < most_steps && walk.step(); ++t) throw_if_stopped();
  return walk.path();
}

std::string difference(const Path& a, const Path& b) {
  for (std::size_t i = 0; i < std::max(a.lines.size(), b.lines.size()); ++i) {
    const std::string x = i < a.lines.size() ? a.lines[i] : "nothing";
    const std::string y = i < b.lines.size() ? b.lines[i] : "nothing";
    if (x != y) return fmt::format("step {}: '{}' and '{}'", i, x, y);
  }
  return "";
}

}  // namespace hilo
