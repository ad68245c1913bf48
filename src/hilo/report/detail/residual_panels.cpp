#include "hilo/report/detail/residual_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/report/detail/plot.hpp"
#include "hilo/report/html.hpp"

namespace hilo {
namespace {

constexpr std::size_t kMostSteps = 1000;  // a prediction takes some microseconds
constexpr std::size_t kMostShown = 60;
constexpr std::size_t kMostPanels = 13;
constexpr double kWidth = 260, kHeight = 240;
constexpr double kLeft = 66, kRight = 10, kTop = 28, kBottom = 42;
constexpr double kNoResidual = 1e-9;  // the same numbers, computed in another order

bool is_finite(const ResidualPoint& p) {
  return std::isfinite(p.seen) && std::isfinite(p.mean) && std::isfinite(p.deviation);
}

bool has_residual(const ResidualPanel& panel) {
  return std::ranges::any_of(panel.points, [](const ResidualPoint& p) {
    return std::abs(p.seen) > kNoResidual || std::abs(p.mean) > kNoResidual;
  });
}

void add_episode(const Corrected& agent, const VectorEpisode& episode, std::size_t stride,
                 std::size_t& step, std::vector<ResidualPanel>& panels) {
  const ResidualData data = agent.residuals_of(episode);
  std::vector<double> index(1);
  for (std::size_t t = 0; t < data.size(); ++t) {
    if (step++ % stride != 0) continue;
    index[0] = data.actions.is_discrete() ? static_cast<double>(episode.actions[t].index()) : 0;
    const ResidualModel::Prediction predicted =
        agent.model()->predict(episode.observations[t].coordinates(),
                               data.actions.is_discrete() ? std::span<const double>(index)
                                                          : episode.actions[t].coordinates());
    for (std::size_t k = 0; k < data.num_outputs(); ++k) {
      const std::size_t at = t * data.num_outputs() + k;
      const ResidualPoint point{
          .seen = data.outputs[at], .mean = predicted.mean[k], .deviation = predicted.deviation[k]};
      if (data.seen[at] != 0 && is_finite(point)) panels[k].points.push_back(point);
    }
  }
}

std::string ticks_svg(const Scale& x, const Scale& y) {
  std::string out;
  // Every other mark has a number: five numbers would not fit below each other.
  const auto labelled = [](std::size_t i, std::size_t count) { return count < 5 || i % 2 == 0; };
  const std::vector<double> xs = ticks_of(x.low, x.high), ys = ticks_of(y.low, y.high);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    out += fmt::format(
        R"svg(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" stroke="var(--grid)"/>)svg",
        x(xs[i]), y.from, y.to);
    if (labelled(i, xs.size()))
      out += fmt::format(R"(<text x="{:.1f}" y="{:.0f}" text-anchor="middle">{:.3g}</text>)",
                         x(xs[i]), y.from + 16, xs[i]);
  }
  for (std::size_t i = 0; i < ys.size(); ++i) {
    out += fmt::format(
        R"svg(<line x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}" stroke="var(--grid)"/>)svg", x.from,
        x.to, y(ys[i]));
    if (labelled(i, ys.size()))
      out += fmt::format(R"(<text x="{:.0f}" y="{:.1f}" text-anchor="end">{:.3g}</text>)",
                         x.from - 5, y(ys[i]) + 4, ys[i]);
  }
  return out;
}

std::string point_svg(const ResidualPoint& p, const Scale& x, const Scale& y) {
  const char* colour = p.is_inside() ? "var(--accent)" : "var(--bad)";
  return fmt::format(
      "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" "
      "opacity=\"0.55\"/><circle cx=\"{0:.1f}\" cy=\"{4:.1f}\" r=\"2.4\" stroke=\"{3}\" "
      "fill=\"{5}\"/>",
      x(p.seen), y(p.mean - p.half_width()), y(p.mean + p.half_width()), colour, y(p.mean),
      p.is_inside() ? colour : "var(--panel)");
}

}  // namespace

std::size_t ResidualPanel::inside() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(points, [](const ResidualPoint& p) { return p.is_inside(); }));
}

std::vector<ResidualPanel> residual_panels(const VectorView& view, const Corrected& agent,
                                           std::span<const VectorEpisode> episodes) {
  if (agent.model() == nullptr || agent.model()->is_empty()) return {};
  std::vector<ResidualPanel> panels;
  for (const std::string& name : view.coordinates) panels.push_back({.name = name, .points = {}});
  panels.push_back({.name = "reward", .points = {}});
  std::size_t steps = 0;
  for (const VectorEpisode& episode : episodes) steps += episode.length();
  const std::size_t stride = steps / kMostSteps + 1;
  std::size_t step = 0;
  for (const VectorEpisode& episode : episodes) add_episode(agent, episode, stride, step, panels);
  std::erase_if(panels, [](const ResidualPanel& panel) { return !has_residual(panel); });
  if (panels.size() > kMostPanels) panels.resize(kMostPanels);
  return panels;
}

std::string residual_picture(const ResidualPanel& panel) {
  std::vector<ResidualPoint> shown;
  const std::size_t stride = (panel.points.size() + kMostShown - 1) / kMostShown;
  for (std::size_t i = 0; i < panel.points.size(); i += stride)
    if (is_finite(panel.points[i])) shown.push_back(panel.points[i]);
  Range seen, predicted;
  for (const ResidualPoint& p : shown) {
    seen.add(p.seen);
    predicted.add(p.mean - p.half_width());
    predicted.add(p.mean + p.half_width());
  }
  seen = seen.with_room(0.06);
  predicted = predicted.with_room(0.04);
  const Scale x = scale_of(seen.low, seen.high, kLeft, kWidth - kRight);
  const Scale y = scale_of(predicted.low, predicted.high, kHeight - kBottom, kTop);
  std::string out =
      fmt::format(R"(<text x="{}" y="16">{}</text>)", kLeft, escape_html(panel.name)) +
      ticks_svg(x, y);
  // The line of equality, where the picture has it.
  const double from = std::max(x.low, y.low), to = std::min(x.high, y.high);
  if (from < to)
    out += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"var(--quiet)\" "
        "stroke-width=\"1.5\" stroke-dasharray=\"5 4\"/>",
        x(from), y(from), x(to), y(to));
  for (const ResidualPoint& p : shown) out += point_svg(p, x, y);
  out += fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\" fill=\"var(--quiet)\">seen</text>"
      "<text transform=\"translate(12 {:.0f}) rotate(-90)\" text-anchor=\"middle\" "
      "fill=\"var(--quiet)\">predicted</text>",
      (x.from + x.to) / 2, kHeight - 6, (y.from + y.to) / 2);
  return picture_svg(kWidth, kHeight,
                     fmt::format("Residual of {}: predicted against seen, {} of {} inside their "
                                 "95 % intervals",
                                 panel.name, panel.inside(), panel.points.size()),
                     out);
}

}  // namespace hilo
