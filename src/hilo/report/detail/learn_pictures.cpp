#include "hilo/report/detail/learn_pictures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hilo/report/detail/plot.hpp"
#include "hilo/report/html.hpp"

namespace hilo {
namespace {

constexpr double kWidth = 860, kHeight = 360;
constexpr double kLeft = 70, kRight = 180, kTop = 16, kBottom = 46;  // margins of the plot
constexpr std::size_t kMostDots = 400;
constexpr double kSmallWidth = 260, kSmallHeight = 120;

// An expensive episode of training: what had been spent when it ended, and its return.
struct Dot {
  double cost = 0, value = 0;
};

// All training episodes, or means of as many neighbours as it takes to show few dots.
std::vector<Dot> dots_of(const Learner& learner) {
  const Bill bill = learner.bill();
  const double low_step =
      bill.low_steps > 0 ? bill.low_cost / static_cast<double>(bill.low_steps) : 0;
  const std::uint64_t bin = std::max<std::uint64_t>(1, (bill.training + kMostDots - 1) / kMostDots);
  std::vector<Dot> dots;
  double cost = 0;
  double sum = 0;
  std::uint64_t count = 0;
  learner.for_each_attempt([&](const Attempt& attempt) {
    cost += attempt.cost;
    if (attempt.failed || attempt.at.test || attempt.is_reused()) return;
    sum += attempt.paid.discounted_return;
    if (++count < bin) return;
    dots.push_back(
        {cost + low_step * static_cast<double>(attempt.low_steps), sum / static_cast<double>(bin)});
    sum = 0;
    count = 0;
  });
  return dots;
}

// The mean of the last tenth of the episodes so far, at least of five.
std::vector<Dot> running_mean(const std::vector<Dot>& dots) {
  const std::size_t window = std::max<std::size_t>(5, dots.size() / 10);
  std::vector<Dot> out;
  double sum = 0;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    sum += dots[i].value;
    if (i >= window) sum -= dots[i - window].value;
    if (i + 1 >= window) out.push_back({dots[i].cost, sum / static_cast<double>(window)});
  }
  return out;
}

// A horizontal line with its name at the right.
struct NamedLine {
  double value;
  std::string name, colour, dash;
};

std::string axes(const Scale& x, const Scale& y, const std::string& unit) {
  std::string out;
  for (const double v : ticks_of(y.low, y.high))
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"var(--grid)\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
        x.from, x.to, y(v), x.from - 8, y(v) + 4, v);
  for (const double v : ticks_of(x.low, x.high))
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.6g}</text>\n",
                       x(v), y.from + 18, v);
  return out + fmt::format(
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">cost{}</text>\n"
                   "<text transform=\"translate(14 {:.1f}) rotate(-90)\" "
                   "text-anchor=\"middle\">discounted return</text>\n",
                   (x.from + x.to) / 2, y.from + 38, unit, (y.from + y.to) / 2);
}

// Names that would lie upon each other are moved apart.
std::string levels_svg(std::vector<NamedLine> levels, const Scale& x, const Scale& y) {
  std::ranges::sort(levels, std::greater<>(), &NamedLine::value);
  std::string out;
  double last = -1e9;
  for (const NamedLine& level : levels) {
    const double at = y(level.value);
    const double text = std::max(at + 4, last + 15);
    last = text;
    out += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"2\"{}/>"
        "<text x=\"{}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n",
        x.from, x.to, at, at, level.colour,
        level.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", level.dash), x.to + 8,
        text, level.colour, escape_html(level.name));
  }
  return out;
}

// One number over the episodes, whose axis is logarithmic because most is found out early.
std::string small_picture(const std::string& name, const std::vector<Measurement>& of_name) {
  const auto [low, high] = std::ranges::minmax(of_name, {}, &Measurement::value);
  const double last_episode = static_cast<double>(of_name.back().episode);
  const Scale x = scale_of(0, std::log10(last_episode), 10, kSmallWidth - 70);
  const Scale y = scale_of(low.value, high.value, kSmallHeight - 30, 34);
  std::vector<std::string> path;
  for (const Measurement& m : of_name)
    path.push_back(
        fmt::format("{:.1f},{:.1f}", x(std::log10(static_cast<double>(m.episode))), y(m.value)));
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\" style=\"width:{0}px;"
      "max-width:100%;font-size:13px;fill:var(--text)\"><text x=\"10\" y=\"16\">{2}</text>"
      "<polyline points=\"{3}\" fill=\"none\" stroke=\"var(--accent)\" stroke-width=\"2\"/>"
      "<text x=\"{4}\" y=\"{5:.1f}\" fill=\"var(--accent)\">{6:.3g}</text>"
      "<text x=\"10\" y=\"{7}\" fill=\"var(--quiet)\">1</text>"
      "<text x=\"{8}\" y=\"{7}\" text-anchor=\"end\" fill=\"var(--quiet)\">{9} "
      "episodes</text></svg>\n",
      kSmallWidth, kSmallHeight, escape_html(name), fmt::join(path, " "), kSmallWidth - 64,
      y(of_name.back().value) + 4, of_name.back().value, kSmallHeight - 8, kSmallWidth - 70,
      of_name.back().episode);
}

}  // namespace

std::string returns_picture(const Learner& learner, const LearnOutcome& outcome,
                            const LearnReference& reference) {
  const std::vector<Dot> dots = dots_of(learner);
  const Bill bill = learner.bill();
  std::vector<NamedLine> levels;
  const Summary& tested = outcome.value.returns;
  if (tested.n > 0)
    levels.push_back({tested.mean, fmt::format("tested {:.4g}", tested.mean), "var(--good)", ""});
  if (reference.cheap_alone)
    levels.push_back({*reference.cheap_alone,
                      fmt::format("cheap one alone {:.4g}", *reference.cheap_alone), "var(--open)",
                      "7 5"});
  if (reference.optimum)
    levels.push_back({*reference.optimum, fmt::format("optimum {:.4g}", *reference.optimum),
                      "var(--quiet)", "2 4"});
  double low = tested.n > 0 ? tested.low : 0;
  double high = tested.n > 0 ? tested.high : 0;
  if (tested.n == 0 && !dots.empty()) low = high = dots[0].value;
  for (const Dot& dot : dots) {
    low = std::min(low, dot.value);
    high = std::max(high, dot.value);
  }
  for (const NamedLine& level : levels) {
    low = std::min(low, level.value);
    high = std::max(high, level.value);
  }
  const double room = 0.04 * (high - low);
  const Scale x = scale_of(0, bill.cost(), kLeft, kWidth - kRight);
  const Scale y = scale_of(low - room, high + room, kHeight - kBottom, kTop);
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Returns against cost\" "
      "style=\"width:100%;"
      "height:auto;display:block;font-size:13px;fill:var(--text)\">\n",
      kWidth, kHeight);
  out += axes(x, y, bill.unit == CostUnit::seconds ? ", seconds" : "");
  if (tested.n > 1)
    out += fmt::format(
        "<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"var(--good)\" "
        "opacity=\"0.16\"/>\n",
        x.from, y(tested.high), x.to - x.from, y(tested.low) - y(tested.high));
  for (const Dot& dot : dots)
    out += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.2\" fill=\"var(--accent)\" "
        "opacity=\"0.45\"/>\n",
        x(dot.cost), y(dot.value));
  std::vector<std::string> path;
  for (const Dot& dot : running_mean(dots))
    path.push_back(fmt::format("{:.1f},{:.1f}", x(dot.cost), y(dot.value)));
  out += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"var(--accent)\" stroke-width=\"2.5\"/>\n",
      fmt::join(path, " "));
  out += levels_svg(levels, x, y) + "</svg>\n";
  return out;
}

std::string findings_picture(const std::vector<Measurement>& findings) {
  std::vector<std::string> names;
  for (const Measurement& m : findings)
    if (std::ranges::find(names, m.metric) == names.end()) names.push_back(m.metric);
  std::string out;
  for (const std::string& name : names) {
    std::vector<Measurement> of_name;
    for (const Measurement& m : findings)
      if (m.metric == name && std::isfinite(m.value)) of_name.push_back(m);
    if (of_name.size() > 1) out += small_picture(name, of_name);
  }
  return out;
}

}  // namespace hilo
