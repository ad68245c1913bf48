#include "hilo/report/detail/phase_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "hilo/report/colours.hpp"
#include "hilo/report/html.hpp"

namespace hilo {
namespace {

constexpr std::size_t kCells = 40;  // on a side
constexpr double kWidth = 440, kHeight = 350;
constexpr double kLeft = 54, kTop = 8, kSide = 296;
constexpr double kKey = kLeft + kSide + 14;  // where the colour key begins
constexpr int kLevels = 8;                   // of a colour, on either side of the middle
constexpr std::uint64_t kMostNamed = 12;     // discrete actions in the key
constexpr double kPi = std::numbers::pi;
constexpr int kNothing = 1000;  // the level of a cell whose action is not a number

bool is_bounded(double low, double high) { return std::isfinite(low) && std::isfinite(high); }

// Angles show their whole circle; other coordinates what was seen of them, within their box.
Range range_of(const VectorView& view, const Space& observations, const SeenCoordinates& seen,
               std::size_t d) {
  if (view.is_angle(d)) return {-kPi, kPi};
  Range range = seen.range(d).with_room(0.06);
  if (view.system != nullptr) {
    const double far = std::max(std::abs(range.low), std::abs(range.high));
    range = {-far, far};
  }
  range.low = std::max(range.low, observations.low()[d]);
  range.high = std::min(range.high, observations.high()[d]);
  if (!(range.high > range.low)) range = {range.low - 0.5, range.low + 0.5};
  return range;
}

double middle_of(const Range& range, std::size_t cell) {
  return range.low +
         (range.high - range.low) * (static_cast<double>(cell) + 0.5) / static_cast<double>(kCells);
}

// The first action in every cell, row by row.
std::vector<double> actions_of(const Policy& policy, const PhasePlane& plane) {
  Columns observations(plane.others.size(), kCells * kCells);
  observations.fill(plane.others);
  for (std::size_t i = 0; i < observations.count(); ++i) {
    observations.at(plane.x, i) = middle_of(plane.x_range, i % kCells);
    observations.at(plane.y, i) = middle_of(plane.y_range, i / kCells);
  }
  const Space& space = policy.action_space();
  Columns actions(space.is_discrete() ? 1 : space.dimension(), observations.count());
  // A policy that draws its actions gets the same word everywhere.
  const std::vector<ActionWords> words(observations.count());
  policy.act_columns(observations, words, actions);
  return {actions.row(0), actions.row(0) + actions.count()};
}

// How actions become colours: those of a box are levels on either side of its middle, in one colour
// each, which fade into the ground of the page. Discrete ones have a colour each.
class ActionColours {
 public:
  ActionColours(const Space& space, const std::vector<double>& actions) : space_(space) {
    if (space.is_discrete()) return;
    range_ = {space.low()[0], space.high()[0]};
    if (is_bounded(range_.low, range_.high)) return;
    Range seen;
    for (const double action : actions) seen.add(action);
    range_ = seen.with_room(0);
  }

  int level(double action) const {
    if (!std::isfinite(action)) return kNothing;
    if (space_.is_discrete()) return static_cast<int>(action);
    const double half = (range_.high - range_.low) / 2;
    const double share = half > 0 ? (action - (range_.low + half)) / half : 0;
    return static_cast<int>(std::lround(kLevels * std::clamp(share, -1.0, 1.0)));
  }

  std::string fill(int level) const {
    if (space_.is_discrete()) {
      const int paler = level / kNumActionColours;  // colours that are used again
      return fmt::format(R"(class="action-{}" fill-opacity="{}")", level % kNumActionColours,
                         std::max(0.25, 0.8 - 0.3 * paler));
    }
    return fmt::format(R"svg(fill="var(--{})" fill-opacity="{:.2f}")svg",
                       level < 0 ? "accent" : "open", 0.9 * std::abs(level) / kLevels);
  }

  // Colours that work on a light and on a dark ground.
  std::string style() const {
    if (!space_.is_discrete()) return "";
    std::string light, dark;
    for (int a = 0; a < kNumActionColours; ++a) {
      const auto colour = static_cast<std::size_t>(a) + 1;  // the first one is black
      light += fmt::format(".action-{}{{fill:{}}}", a, kColours[colour]);
      dark += fmt::format(".action-{}{{fill:{}}}", a, kColoursOnDark[colour]);
    }
    return fmt::format("<style>{}@media (prefers-color-scheme:dark){{{}}}</style>", light, dark);
  }

  std::string key(const std::string& name) const {
    return space_.is_discrete() ? discrete_key() : box_key(name);
  }

 private:
  static constexpr int kNumActionColours = static_cast<int>(kNumColours) - 1;

  std::string discrete_key() const {
    std::string out;
    const std::uint64_t named = std::min(space_.size(), kMostNamed);
    for (std::uint64_t a = 0; a < named; ++a)
      out += fmt::format(
          "<rect x=\"{0}\" y=\"{1}\" width=\"14\" height=\"14\" {2}/>"
          "<text x=\"{3}\" y=\"{4}\">action {5}</text>",
          kKey, kTop + 20 * static_cast<double>(a), fill(static_cast<int>(a)), kKey + 20,
          kTop + 20 * static_cast<double>(a) + 12, a);
    if (space_.size() > named)
      out += fmt::format(R"(<text x="{}" y="{}">and {} more</text>)", kKey,
                         kTop + 20 * static_cast<double>(named) + 12, space_.size() - named);
    return out;
  }

  std::string box_key(const std::string& name) const {
    constexpr double kTall = 9;
    std::string out =
        fmt::format(R"(<text x="{}" y="{}">{}</text>)", kKey, kTop + 11, escape_html(name));
    const double top = kTop + 22;
    for (int level = -kLevels; level <= kLevels; ++level)
      out += fmt::format(
          R"(<rect x="{}" y="{}" width="14" height="{}" {} shape-rendering="crispEdges"/>)", kKey,
          top + kTall * (kLevels - level), kTall, fill(level));
    const double bottom = top + kTall * (2 * kLevels + 1);
    out += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"{}\" fill=\"none\" "
        "stroke=\"var(--line)\"/>",
        kKey, top, bottom - top);
    for (const auto& [value, y] :
         {std::pair{range_.high, top + 10},
          std::pair{(range_.low + range_.high) / 2, (top + bottom) / 2 + 4},
          std::pair{range_.low, bottom - 1}})
      out += fmt::format(R"(<text x="{}" y="{:.0f}">{:.3g}</text>)", kKey + 20, y, value);
    return out;
  }

  const Space& space_;
  Range range_;
};

// Runs of cells of one colour are one rectangle, and all of a colour one path: a page stays small.
std::string map_svg(const std::vector<double>& actions, const ActionColours& colours) {
  constexpr double kCell = kSide / static_cast<double>(kCells);
  std::map<int, std::string> paths;
  for (std::size_t row = 0; row < kCells; ++row)
    for (std::size_t cell = 0; cell < kCells;) {
      const int level = colours.level(actions[row * kCells + cell]);
      const std::size_t first = cell;
      while (cell < kCells && colours.level(actions[row * kCells + cell]) == level) ++cell;
      if (level == kNothing) continue;
      paths[level] += fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z",
                                  kLeft + kCell * static_cast<double>(first),
                                  kTop + kSide - kCell * static_cast<double>(row + 1),
                                  kCell * static_cast<double>(cell - first), kCell,
                                  kCell * static_cast<double>(cell - first));
    }
  std::string out = fmt::format("<g shape-rendering=\"crispEdges\">");
  for (const auto& [level, path] : paths)
    out += fmt::format("<path {} d=\"{}\"/>", colours.fill(level), path);
  return out + "</g>";
}

// Multiples of pi / 2 for an angle.
std::vector<std::pair<double, std::string>> marks_of(bool is_angle, const Range& range) {
  if (is_angle) return {{-kPi, "-π"}, {-kPi / 2, "-π/2"}, {0, "0"}, {kPi / 2, "π/2"}, {kPi, "π"}};
  std::vector<std::pair<double, std::string>> out;
  for (const double tick : ticks_of(range.low, range.high))
    out.emplace_back(tick, fmt::format("{:.4g}", tick));
  return out;
}

std::string axes_svg(const VectorView& view, const PhasePlane& plane, const Scale& x,
                     const Scale& y) {
  constexpr double kBottom = kTop + kSide;
  std::string out = fmt::format(
      R"svg(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="var(--quiet)"/>)svg",
      kLeft, kTop, kSide, kSide);
  for (const auto& [value, text] : marks_of(view.is_angle(plane.x), plane.x_range))
    out += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"var(--quiet)\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>",
        x(value), kBottom, kBottom + 4, kBottom + 18, text);
  for (const auto& [value, text] : marks_of(view.is_angle(plane.y), plane.y_range))
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"var(--quiet)\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>",
        kLeft - 4, kLeft, y(value), kLeft - 7, y(value) + 4, text);
  return out + fmt::format(
                   "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>"
                   "<text transform=\"translate(13 {:.0f}) rotate(-90)\" "
                   "text-anchor=\"middle\">{}</text>",
                   kLeft + kSide / 2, kBottom + 36, escape_html(view.coordinates[plane.x]),
                   kTop + kSide / 2, escape_html(view.coordinates[plane.y]));
}

// From the circle to the dot. It is broken where an angle passes the seam of its circle.
std::string path_svg(const VectorView& view, const PhasePlane& plane, const VectorEpisode& episode,
                     const Scale& x, const Scale& y) {
  std::vector<Place> places;
  const auto at = [&](std::size_t t) {
    return Place{number_of(episode.observations, t, plane.x),
                 number_of(episode.observations, t, plane.y)};
  };
  const auto is_seam = [&](std::size_t t) {
    const Place a = at(t - 1), b = at(t);
    return (view.is_angle(plane.x) && std::abs(a.x - b.x) > kPi) ||
           (view.is_angle(plane.y) && std::abs(a.y - b.y) > kPi);
  };
  for (std::size_t t = 0; t < episode.observations.size(); ++t) {
    if (t > 0 && is_seam(t)) places.push_back({NAN, NAN});
    places.push_back({x(at(t).x), y(at(t).y)});
  }
  std::string out = line_svg(places, "stroke=\"var(--panel)\" stroke-width=\"4.5\"") +
                    line_svg(places, "stroke=\"var(--text)\" stroke-width=\"1.8\"");
  const auto dot = [&](Place place, const char* fill) {
    if (!std::isfinite(place.x) || !std::isfinite(place.y)) return std::string();
    return fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"var(--{})\" stroke=\"var(--text)\" "
        "stroke-width=\"2\"/>",
        place.x, place.y, fill);
  };
  if (places.empty()) return out;
  return out + dot(places.front(), "panel") + dot(places.back(), "text");
}

}  // namespace

void SeenCoordinates::add(const Points& observations, std::size_t dimension) {
  moments_.resize(dimension);
  ranges_.resize(dimension);
  for (std::size_t t = 0; t < observations.size(); ++t)
    for (std::size_t d = 0; d < dimension; ++d) {
      const double value = number_of(observations, t, d);
      if (!std::isfinite(value)) continue;
      moments_[d].add(value);
      ranges_[d].add(value);
    }
}

double SeenCoordinates::deviation(std::size_t d) const {
  const double variance = moments_[d].population_variance();
  return std::isfinite(variance) ? std::sqrt(variance) : 0;
}

PhasePlane phase_plane(const VectorView& view, const Space& observations,
                       const SeenCoordinates& seen) {
  std::vector<std::size_t> order(seen.dimension());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t d) { return seen.deviation(d); });
  PhasePlane plane;
  plane.x = std::min(order[0], order[1]);
  plane.y = std::max(order[0], order[1]);
  if (view.plane.size() == 2) {
    plane.x = view.plane[0];
    plane.y = view.plane[1];
  }
  plane.x_range = range_of(view, observations, seen, plane.x);
  plane.y_range = range_of(view, observations, seen, plane.y);
  for (std::size_t d = 0; d < seen.dimension(); ++d)
    plane.others.push_back(view.system != nullptr ? 0 : seen.mean(d));
  return plane;
}

std::string phase_plot(const VectorView& view, const Policy& policy, const PhasePlane& plane,
                       const VectorEpisode& path) {
  const std::vector<double> actions = actions_of(policy, plane);
  const ActionColours colours(policy.action_space(), actions);
  const Scale x = scale_of(plane.x_range.low, plane.x_range.high, kLeft, kLeft + kSide);
  const Scale y = scale_of(plane.y_range.low, plane.y_range.high, kTop + kSide, kTop);
  return picture_svg(
      kWidth, kHeight,
      fmt::format("{} of the policy over {} and {}, and the path of the final episode",
                  view.actions[0], view.coordinates[plane.x], view.coordinates[plane.y]),
      colours.style() + map_svg(actions, colours) + path_svg(view, plane, path, x, y) +
          axes_svg(view, plane, x, y) + colours.key(view.actions[0]));
}

}  // namespace hilo
