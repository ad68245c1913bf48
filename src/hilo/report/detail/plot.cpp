#include "hilo/report/detail/plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hilo/report/html.hpp"

namespace hilo {

double step_of(double range) {
  const double rough = std::max(range, 1e-300) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

std::vector<double> ticks_of(double low, double high) {
  constexpr int kMost = 20;  // a step may be too small to change a large number
  const double step = step_of(high - low);
  std::vector<double> out;
  for (int k = 0; k < kMost; ++k) {
    const double v = (std::ceil(low / step) + k) * step;
    if (!(v <= high)) break;
    out.push_back(std::abs(v) < step / 1e6 ? 0.0 : v);
  }
  return out;
}

Scale scale_of(double low, double high, double from, double to) {
  if (!(high > low)) {
    const double room = std::max(0.5, 1e-9 * std::abs(low));
    low -= room;
    high += room;
  }
  return {low, high, from, to};
}

Range Range::with_room(double share) const {
  if (is_empty()) return {-1, 1};
  const double room = share * (high - low);
  return {low - room, high + room};
}

std::string line_svg(const std::vector<Place>& places, const std::string& attributes) {
  std::string out;
  std::vector<std::string> piece;
  const auto finish = [&] {
    if (piece.size() > 1)
      out += fmt::format(R"(<polyline points="{}" fill="none" {}/>)", fmt::join(piece, " "),
                         attributes);
    piece.clear();
  };
  for (const Place& place : places) {
    if (std::isfinite(place.x) && std::isfinite(place.y))
      piece.push_back(fmt::format("{:.1f},{:.1f}", place.x, place.y));
    else
      finish();
  }
  finish();
  return out;
}

std::string picture_svg(double width, double height, const std::string& title,
                        const std::string& contents) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\" "
      "style=\"width:{0:.0f}px;max-width:100%;height:auto;font-size:13px;fill:var(--text)\">"
      "<title>{2}</title>{3}</svg>\n",
      width, height, escape_html(title), contents);
}

}  // namespace hilo
