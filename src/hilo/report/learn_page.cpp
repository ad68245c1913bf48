#include "hilo/report/learn_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/version.hpp"
#include "hilo/report/detail/assets.hpp"
#include "hilo/report/html.hpp"
#include "hilo/report/table.hpp"

namespace hilo {
namespace {

constexpr double kWidth = 860, kHeight = 360;
constexpr double kLeft = 70, kRight = 180, kTop = 16, kBottom = 46;  // margins of the plot
constexpr std::size_t kMostDots = 400;
constexpr std::size_t kMostShownStates = 100;

constexpr const char* kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
)";

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
  for (const JournalledRun& run : learner.journal().runs()) {
    if (run.name != learner.spec().spec.name || run.seed != learner.spec().seed) continue;
    learner.journal().for_each_attempt(run.id, [&](const Attempt& attempt) {
      cost += attempt.cost;
      if (attempt.failed || attempt.at.test) return;
      sum += attempt.paid.discounted_return;
      if (++count < bin) return;
      dots.push_back({cost + low_step * static_cast<double>(attempt.low_steps),
                      sum / static_cast<double>(bin)});
      sum = 0;
      count = 0;
    });
  }
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

// 1, 2 or 5 times a power of ten, such that about five steps span the range.
double step_of(double range) {
  const double rough = std::max(range, 1e-300) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

struct Scale {
  double low, high, from, to;
  double operator()(double x) const { return from + (x - low) / (high - low) * (to - from); }
};

Scale scale_of(double low, double high, double from, double to) {
  if (!(high > low)) {
    low -= 0.5;
    high += 0.5;
  }
  return {low, high, from, to};
}

// A horizontal line with its name at the right.
struct Level {
  double value;
  std::string name, colour, dash;
};

std::string axes(const Scale& x, const Scale& y, const std::string& unit) {
  std::string out;
  const double step_y = step_of(y.high - y.low);
  for (double v = std::ceil(y.low / step_y) * step_y; v <= y.high; v += step_y)
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"var(--grid)\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
        x.from, x.to, y(v), x.from - 8, y(v) + 4, std::abs(v) < step_y / 1e6 ? 0.0 : v);
  const double step_x = step_of(x.high - x.low);
  for (double v = std::ceil(x.low / step_x) * step_x; v <= x.high; v += step_x)
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.6g}</text>\n",
                       x(v), y.from + 18, v);
  return out + fmt::format(
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">cost{}</text>\n"
                   "<text transform=\"translate(14 {:.1f}) rotate(-90)\" "
                   "text-anchor=\"middle\">discounted return</text>\n",
                   (x.from + x.to) / 2, y.from + 38, unit, (y.from + y.to) / 2);
}

// Names that would lie upon each other are moved apart.
std::string levels_svg(std::vector<Level> levels, const Scale& x, const Scale& y) {
  std::ranges::sort(levels, std::greater<>(), &Level::value);
  std::string out;
  double last = -1e9;
  for (const Level& level : levels) {
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

std::string picture(const Learner& learner, const LearnOutcome& outcome,
                    const LearnReference& reference) {
  const std::vector<Dot> dots = dots_of(learner);
  const Bill bill = learner.bill();
  std::vector<Level> levels;
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
  for (const Level& level : levels) {
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

std::string caption(const LearnOutcome& outcome, const LearnReference& reference) {
  std::string text =
      "Dots: the return of every expensive episode that was learnt from, while it explored. Line: "
      "their "
      "running mean. ";
  if (outcome.value.returns.n > 1)
    text +=
        "Green: the mean return of the final policy in episodes that were not learnt from, with "
        "its "
        "95 % interval. ";
  if (reference.cheap_alone)
    text += "Dashed: the exact value of the policy that is learnt in the cheap simulator alone. ";
  if (reference.optimum) text += "Dotted: the exact optimum.";
  if (!reference.optimum)
    text +=
        "What the cheap simulator's own policy and the best policy are worth is not known: the "
        "expensive simulator has no model, and to test them would cost episodes.";
  return text;
}

std::string answer(const Learner& learner, const LearnOutcome& outcome,
                   const LearnReference& reference) {
  const Summary& tested = outcome.value.returns;
  std::string text;
  if (tested.n > 1)
    text = fmt::format(
        "The policy is worth {:.4g} [{:.4g}, {:.4g}] on the expensive simulator: the mean "
        "discounted return of {} test episodes, with a 95 % interval.",
        tested.mean, tested.low, tested.high, tested.n);
  else if (tested.n == 1)
    text = fmt::format("One test episode of the policy returned {:.4g}.", tested.mean);
  else
    text = "The policy was not tested.";
  if (!outcome.value.caution.empty()) text += fmt::format(" Caution: {}.", outcome.value.caution);
  if (outcome.believed)
    text += fmt::format(" The agent itself expects {:.4g}.", outcome.believed->value);
  if (reference.policy) text += fmt::format(" The exact value is {:.4g}.", *reference.policy);
  const Bill bill = learner.bill();
  return text + fmt::format(" It took {} expensive episodes.", bill.episodes);
}

Table bill_table(const Bill& bill) {
  Table table{.title = "The bill", .rows = {{"", "number", "cost"}}, .note = {}};
  const auto count = [](std::uint64_t n) { return group_digits(static_cast<double>(n)); };
  table.rows.push_back({"expensive episodes, to learn from", count(bill.training), ""});
  table.rows.push_back({"expensive episodes, to test the policy", count(bill.testing), ""});
  table.rows.push_back({"attempts that failed", count(bill.failed), ""});
  table.rows.push_back({"episodes that were skipped", count(bill.skipped), ""});
  table.rows.push_back({"steps of the expensive simulator", count(bill.steps),
                        fmt::format("{:.6g}", bill.high_cost)});
  table.rows.push_back({"steps of the cheap simulator", count(bill.low_steps),
                        fmt::format("{:.6g}", bill.low_cost)});
  table.rows.push_back({"together", "", fmt::format("{:.6g}", bill.cost())});
  table.note = fmt::format(
      "The cheap simulator's share of the cost is {:.1f} %. Costs are {}. {:.1f} s "
      "of wall time.",
      100 * bill.low_share(),
      bill.unit == CostUnit::seconds    ? "seconds, measured in the first episodes"
      : bill.unit == CostUnit::reported ? "what the simulator reported"
                                        : "declared",
      bill.clock);
  return table;
}

Table findings_table(const Learner& learner) {
  std::vector<std::string> names;
  std::map<std::uint64_t, std::map<std::string, double>> by_episode;
  for (const Measurement& m : learner.findings()) {
    if (std::ranges::find(names, m.metric) == names.end()) names.push_back(m.metric);
    by_episode[m.episode][m.metric] = m.value;
  }
  Table table{.title = "What the agent found out about the cheap simulator",
              .rows = {{"after episodes"}},
              .note = {}};
  for (const std::string& name : names) table.rows[0].push_back(name);
  for (const auto& [episode, values] : by_episode) {
    std::vector<std::string> row = {group_digits(static_cast<double>(episode))};
    for (const std::string& name : names)
      row.push_back(values.contains(name) ? fmt::format("{:.3g}", values.at(name)) : "–");
    table.rows.push_back(std::move(row));
  }
  std::vector<std::string> notes;
  for (const FactInfo& info : learner.spec().config().agent->findings)
    if (std::ranges::find(names, info.name) != names.end())
      notes.push_back(fmt::format("{}: {}", info.name, info.description));
  table.note = fmt::format("{}.", fmt::join(notes, "; "));
  return table;
}

Table policy_table(const Learner& learner) {
  const Behaviour policy = learner.agent().greedy();
  Table table{.title = "The policy",
              .rows = {{"state", "best action", "value of it"}},
              .note = "The value is what the agent expects of the best action."};
  if (policy.heads.size() > kMostShownStates) return {};
  for (State s = 0; s < policy.heads.size(); ++s) {
    const std::span<const Action> best = learner.agent().q().greedy_actions(s);
    table.rows.push_back({fmt::format("{}", s), fmt::format("{}", fmt::join(best, ", ")),
                          fmt::format("{:.4g}", learner.agent().q()(s, best[0]))});
  }
  return table;
}

std::string fact(const std::string& name, const std::string& value) {
  return value.empty()
             ? ""
             : fmt::format("<dt>{}</dt><dd>{}</dd>", escape_html(name), escape_html(value));
}

}  // namespace

std::string make_learn_page(const Learner& learner, const std::string& command) {
  const LearnOutcome outcome = learner.outcome();
  const LearnReference reference = learner.reference();
  const LearnSpec& spec = learner.spec();
  std::string out = kHead;
  out += fmt::format("<title>{} · hilo</title>\n<style>\n{}</style>\n</head>\n<body>\n",
                     escape_html(spec.spec.name), page_css());
  out += fmt::format(
      "<header class=\"top\"><h1>{}: what did the money buy?</h1><p "
      "class=\"lead\">{}</p></header>\n"
      "<main id=\"main\">\n",
      escape_html(spec.spec.name), escape_html(answer(learner, outcome, reference)));
  out +=
      fmt::format("<figure>{}<p class=\"note\">{}</p></figure>\n",
                  picture(learner, outcome, reference), escape_html(caption(outcome, reference)));
  const auto block = [&](const Table& table) {
    if (!table.empty()) out += html_table(table);
  };
  block(bill_table(learner.bill()));
  block(findings_table(learner));
  block(policy_table(learner));
  for (const std::string& note : learner.notes())
    out += fmt::format("<p class=\"missing\">{}</p>\n", escape_html(note));
  out += fmt::format(
      "</main>\n<footer><h2>About this page</h2><dl "
      "class=\"facts\">{}{}{}{}{}{}</dl><details><summary>"
      "The spec</summary><pre>{}</pre></details><p>Nothing on this page is loaded from "
      "anywhere.</p>"
      "</footer>\n</body>\n</html>\n",
      fact("agent", spec.config().label), fact("chosen", spec.choice),
      fact("stopped by the budget of", outcome.stopped_by),
      fact("journal", learner.journal().file().filename().string()), fact("command", command),
      fact("made by", program_name()), escape_html(spec.spec.text));
  return out;
}

}  // namespace hilo
