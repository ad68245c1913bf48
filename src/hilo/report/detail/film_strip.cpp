#include "hilo/report/detail/film_strip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/report/detail/plot.hpp"
#include "hilo/report/html.hpp"

namespace hilo {
namespace {

constexpr double kSquare = 104, kWide = 166;  // frames; a phone has three or two beside each other
constexpr double kLabel = 20;                 // height of the time below a frame
constexpr std::size_t kFrames = 10, kWideFrames = 12;
constexpr double kMostReaches = 5;  // of a pole, that a frame is wide; else it follows the cart
constexpr std::size_t kMostCharts = 12, kMostPlaces = 300;
constexpr double kChartWidth = 250, kChartHeight = 110;

// Joints of the system, from the one that is fixed or moves with the cart to the tip. Up is
// positive.
std::vector<Place> joints_of(const ControlOptions& options, std::span<const double> state) {
  const auto from = [](Place joint, double length, double angle, double up) {
    return Place{joint.x + length * std::sin(angle), joint.y + up * length * std::cos(angle)};
  };
  if (options.system == ControlSystem::pendulum)
    return {{0, 0}, from({0, 0}, options.length_1, state[0], 1)};
  if (options.system == ControlSystem::cart_pole)
    return {{state[0], 0}, from({state[0], 0}, 2 * options.length_1, state[2], 1)};
  const Place elbow = from({0, 0}, options.length_1, state[0], -1);
  return {{0, 0}, elbow, from(elbow, options.length_2, state[0] + state[1], -1)};
}

double reach_of(const ControlOptions& options) {
  if (options.system == ControlSystem::pendulum) return options.length_1;
  if (options.system == ControlSystem::cart_pole) return 2 * options.length_1;
  return options.length_1 + options.length_2;
}

// Where a frame looks, in units of length.
struct Camera {
  double half_width, half_height, centre;
  double width, height;  // of the frame, in pixels
  Place operator()(Place p) const {
    const double zoom = width / (2 * half_width);
    return {width / 2 + (p.x - centre) * zoom, height / 2 - p.y * zoom};
  }
};

std::string segment(Place a, Place b, const char* colour, double width) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
      "stroke-width=\"{}\" stroke-linecap=\"round\"/>",
      a.x, a.y, b.x, b.y, colour, width);
}

// The track, with a mark at every unit of length and the one at 0 longer, the walls, and the cart.
std::string cart_svg(const ControlOptions& options, const Camera& camera, double position) {
  const double left = camera.centre - camera.half_width, right = camera.centre + camera.half_width;
  std::string out = segment(camera({left, 0}), camera({right, 0}), "var(--line)", 2);
  for (const double mark : ticks_of(left, right)) {
    const Place at = camera({mark, 0});
    out += segment(at, {at.x, at.y + (mark == 0 ? 12 : 5)},
                   mark == 0 ? "var(--quiet)" : "var(--line)", 1.5);
  }
  for (const double wall : {-options.wall, options.wall})
    if (options.wall > 0 && wall >= left && wall <= right) {
      const Place at = camera({wall, 0});
      out += segment({at.x, at.y - 12}, {at.x, at.y + 12}, "var(--bad)", 3);
    }
  const Place at = camera({position, 0});
  return out + fmt::format(
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"24\" height=\"12\" rx=\"2\" "
                   "fill=\"var(--quiet)\"/>",
                   at.x - 12, at.y - 6);
}

std::string frame_svg(const VectorView& view, const VectorEpisode& episode, std::size_t t,
                      std::size_t before, Camera camera) {
  const ControlOptions& options = view.system->options();
  const auto state = [&](std::size_t i) { return episode.observations[i].coordinates(); };
  std::string title = view.time(t);
  for (std::size_t d = 0; d < view.coordinates.size(); ++d)
    title += fmt::format("{} {} {:.3g}", d == 0 ? ":" : ",", view.coordinates[d], state(t)[d]);
  std::string out = fmt::format(
      "<rect x=\"0.5\" y=\"0.5\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"3\" "
      "fill=\"var(--ground)\" stroke=\"var(--line)\"/>",
      camera.width - 1, camera.height - 1);
  if (std::ranges::all_of(state(t), [](double x) { return std::isfinite(x); })) {
    if (options.system == ControlSystem::cart_pole) out += cart_svg(options, camera, state(t)[0]);
    std::vector<Place> trail;
    for (std::size_t i = before; i <= t; ++i)
      trail.push_back(camera(joints_of(options, state(i)).back()));
    out += line_svg(trail, "stroke=\"var(--open)\" stroke-width=\"1.5\" opacity=\"0.75\"");
    const std::vector<Place> joints = joints_of(options, state(t));
    for (std::size_t k = 1; k < joints.size(); ++k)
      out += segment(camera(joints[k - 1]), camera(joints[k]), "var(--accent)", 5);
    for (std::size_t k = 0; k + 1 < joints.size(); ++k) {
      const Place at = camera(joints[k]);
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"var(--text)\"/>", at.x,
                         at.y);
    }
  }
  out += fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\" fill=\"var(--quiet)\">{}</text>",
      camera.width / 2, camera.height + kLabel - 5, escape_html(view.time(t)));
  return picture_svg(camera.width, camera.height + kLabel, title, out);
}

// A frame shows the whole track that the cart needs, or follows the cart.
Camera camera_of(const ControlOptions& options, const VectorEpisode& episode) {
  const double reach = 1.12 * reach_of(options);
  if (options.system != ControlSystem::cart_pole) return {reach, reach, 0, kSquare, kSquare};
  double far = reach;
  for (std::size_t t = 0; t <= episode.length(); ++t)
    far = std::max(far, std::abs(number_of(episode.observations, t, 0)) + reach);
  const double half = std::min(far, kMostReaches / 2 * reach);
  return {half, reach, far > half ? NAN : 0, kWide, kWide * reach / half};
}

// Instants between which time and movement are shared out evenly: most of a swing-up lies in its
// first seconds, and a picture of every second would show the rest.
std::vector<std::size_t> instants_of(const ControlOptions& options, const VectorEpisode& episode,
                                     std::size_t count) {
  constexpr double kShareOfTime = 0.3;
  const std::size_t length = episode.length();
  std::vector<double> moved(length + 1, 0.0);
  for (std::size_t t = 1; t <= length; ++t) {
    const Place a = joints_of(options, episode.observations[t - 1].coordinates()).back();
    const Place b = joints_of(options, episode.observations[t].coordinates()).back();
    const double way = std::hypot(b.x - a.x, b.y - a.y);
    moved[t] = moved[t - 1] + (std::isfinite(way) ? way : 0);
  }
  const double whole = std::max(moved.back(), 1e-300);
  std::vector<std::size_t> out;
  for (std::size_t t = 0; t <= length; ++t) {
    const double share = kShareOfTime * static_cast<double>(t) / static_cast<double>(length) +
                         (1 - kShareOfTime) * moved[t] / whole;
    if (share * static_cast<double>(count - 1) >= static_cast<double>(out.size())) out.push_back(t);
  }
  if (out.back() != length) out.push_back(length);  // it hardly moved
  return out;
}

std::string frames(const VectorView& view, const VectorEpisode& episode) {
  const ControlOptions& options = view.system->options();
  const bool is_wide = options.system == ControlSystem::cart_pole;
  const Camera whole = camera_of(options, episode);
  std::string out = "<div style=\"display:flex;flex-wrap:wrap;gap:4px;margin:.7rem 0 0\">";
  std::size_t before = 0;
  for (const std::size_t t : instants_of(options, episode, is_wide ? kWideFrames : kFrames)) {
    Camera camera = whole;
    if (std::isnan(camera.centre)) camera.centre = number_of(episode.observations, t, 0);
    out += frame_svg(view, episode, t, before, camera);
    before = t;
  }
  return out + "</div>\n";
}

// One number over the steps of an episode.
std::string chart(const std::string& name, const Points& points, std::size_t d, std::size_t steps) {
  const std::size_t stride = points.size() / kMostPlaces + 1;
  Range range;
  for (std::size_t t = 0; t < points.size(); ++t) range.add(number_of(points, t, d));
  range = range.with_room(0);
  const Scale x = scale_of(0, static_cast<double>(steps), 8, kChartWidth - 62);
  const Scale y = scale_of(range.low, range.high, kChartHeight - 28, 30);
  std::vector<Place> places;
  for (std::size_t t = 0; t < points.size(); t += stride)
    places.push_back({x(static_cast<double>(t)), y(number_of(points, t, d))});
  std::string out = fmt::format(R"(<text x="8" y="16">{}</text>)", escape_html(name));
  out += line_svg(places, "stroke=\"var(--accent)\" stroke-width=\"2\"");
  for (const double value : {range.low, range.high})
    if (value == range.low || range.high > range.low)
      out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" fill=\"var(--quiet)\">{:.3g}</text>",
                         kChartWidth - 58, y(value) + 4, value);
  out += fmt::format(
      "<text x=\"8\" y=\"{0:.0f}\" fill=\"var(--quiet)\">0</text>"
      "<text x=\"{1:.0f}\" y=\"{0:.0f}\" text-anchor=\"end\" fill=\"var(--quiet)\">{2} "
      "steps</text>",
      kChartHeight - 8, kChartWidth - 62, steps);
  return picture_svg(
      kChartWidth, kChartHeight,
      fmt::format("{} over time, from {:.3g} to {:.3g}", name, range.low, range.high), out);
}

}  // namespace

std::string film_strip(const VectorView& view, const VectorEpisode& episode) {
  if (episode.length() == 0) return "";
  if (view.system != nullptr) return frames(view, episode);
  std::string out = "<div>";
  const auto add = [&](const std::vector<std::string>& names, const Points& points) {
    for (std::size_t d = 0; d < std::min(kMostCharts, names.size()); ++d)
      out += chart(names[d], points, d, episode.length());
    if (names.size() > kMostCharts)
      out += fmt::format("<p class=\"note\">The first {} of {} are shown.</p>", kMostCharts,
                         names.size());
  };
  add(view.coordinates, episode.observations);
  add(view.actions, episode.actions);
  return out + "</div>\n";
}

}  // namespace hilo
