#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/text.hpp"
#include "hilo/core/version.hpp"
#include "hilo/report/detail/assets.hpp"
#include "hilo/report/evaluation_report.hpp"
#include "hilo/report/html.hpp"

// The page of an evaluation. Its pictures are inline SVG, so that it needs no script.
namespace hilo {
namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
)";

constexpr double kWidth = 760, kNames = 210, kRow = 34, kRight = 30;

// Names may be long, and cut in the middle of a character.
std::string shortened(const std::string& name) {
  constexpr std::size_t kMost = 28;
  return name.size() <= kMost ? valid_utf8(name) : valid_utf8(name.substr(0, kMost - 3)) + "...";
}

// One interval of a picture.
struct Row {
  std::string name;
  double value = 0, low = 0, high = 0;
  std::string colour;
};

// 1, 2 or 5 times a power of ten, such that about five steps span the range.
double step_of(double range) {
  const double rough = std::max(range, 1e-300) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

// Intervals below each other on one axis; a line at 0 if `zero`.
std::string intervals(const std::vector<Row>& rows, const std::string& label, bool zero) {
  double low = rows[0].low, high = rows[0].high;
  for (const Row& row : rows) {
    low = std::min(low, row.low);
    high = std::max(high, row.high);
  }
  if (zero) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
  }
  const double pad = high > low ? 0.06 * (high - low) : 0.5;
  low -= pad;
  high += pad;
  const double height = kRow * static_cast<double>(rows.size());
  const auto x = [&](double v) {
    return kNames + (v - low) / (high - low) * (kWidth - kNames - kRight);
  };
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" "
      "style=\"width:100%;min-width:34rem;height:auto;max-width:56rem\" font-size=\"14\" "
      "fill=\"var(--text)\">\n",
      kWidth, height + 46, escape_html(label));
  const double step = step_of(high - low);
  for (double v = std::ceil(low / step) * step; v <= high; v += step)
    out += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1}\" stroke=\"var(--grid)\"/>"
        "<text x=\"{0:.1f}\" y=\"{2}\" text-anchor=\"middle\">{3:.4g}</text>\n",
        x(v), height, height + 18, std::abs(v) < step / 1e6 ? 0.0 : v);
  if (zero)
    out += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1}\" stroke=\"var(--quiet)\" "
        "stroke-width=\"1.5\"/>\n",
        x(0), height);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double y = kRow * (static_cast<double>(k) + 0.5);
    const std::string name = shortened(rows[k].name);
    out += fmt::format(
        "<text x=\"0\" y=\"{1:.1f}\">{0}</text>"
        "<line x1=\"{2:.1f}\" x2=\"{3:.1f}\" y1=\"{4:.1f}\" y2=\"{4:.1f}\" stroke=\"{5}\" "
        "stroke-width=\"7\" stroke-linecap=\"round\" opacity=\"0.45\"/>"
        "<circle cx=\"{6:.1f}\" cy=\"{4:.1f}\" r=\"5.5\" fill=\"{5}\"/>\n",
        escape_html(name), y + 5, x(rows[k].low), x(rows[k].high), y, rows[k].colour,
        x(rows[k].value));
  }
  return out + fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n</svg>\n",
                           (kNames + kWidth - kRight) / 2, height + 40, escape_html(label));
}

Row row_of(const std::string& name, const ValueEstimate& e, const char* colour) {
  return {.name = name, .value = e.value, .low = e.low, .high = e.high, .colour = colour};
}

// The value with and without help; for several policies their values, then the differences.
std::string value_picture(const EvaluationOutcome& outcome) {
  std::vector<Row> rows;
  if (outcome.policies.size() > 1) {
    for (const PolicyResult& p : outcome.policies)
      rows.push_back(row_of(p.name, p.value.best, "var(--accent)"));
    return intervals(rows, outcome.quantity, false);
  }
  const PolicyResult& p = outcome.policies[0];
  rows.push_back(row_of(p.value.best.controlled ? "with the cheap simulators" : "the value",
                        p.value.best, "var(--accent)"));
  if (p.value.best.controlled) {
    rows.push_back(row_of("its expensive episodes alone", p.value.plain, "var(--quiet)"));
    rows.push_back({.name = "plain, for the same cost",
                    .value = p.value.best.value,
                    .low = p.value.best.value - p.plain_half_width,
                    .high = p.value.best.value + p.plain_half_width,
                    .colour = "var(--open)"});
  }
  return intervals(rows, outcome.quantity, false);
}

std::string differences_picture(const EvaluationOutcome& outcome) {
  constexpr std::size_t kMost = 30;
  if (outcome.comparisons.empty() || outcome.comparisons.size() > kMost) return "";
  std::vector<Row> rows;
  for (const PolicyComparison& c : outcome.comparisons)
    rows.push_back(row_of(outcome.policies[c.a].name + " − " + outcome.policies[c.b].name,
                          c.difference.best, c.is_clear() ? "var(--good)" : "var(--quiet)"));
  return fmt::format(
      "<figure><div class=\"scroll\">{}</div><p class=\"note\">Differences between policies. All "
      "intervals hold "
      "together; green ones do not contain 0.</p></figure>\n",
      intervals(rows, "difference of the " + outcome.quantity, true));
}

// Where the money went.
std::string allocation_picture(const EvaluationOutcome& outcome) {
  constexpr double kHeight = 30;
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"share of the cost by simulator\" "
      "style=\"width:100%;min-width:34rem;height:auto;max-width:56rem\" font-size=\"14\" "
      "fill=\"var(--text)\">\n",
      kWidth, kHeight * static_cast<double>(outcome.simulators.size()) + 6);
  for (std::size_t s = 0; s < outcome.simulators.size(); ++s) {
    const SimulatorUse& use = outcome.simulators[s];
    const double y = kHeight * static_cast<double>(s);
    const double width = std::clamp(use.share, 0.0, 1.0) * (kWidth - kNames - 190);
    const std::string name = shortened(use.name);
    out += fmt::format(
        "<text x=\"0\" y=\"{:.1f}\">{}</text><rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"18\" rx=\"3\" fill=\"{}\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{} episodes, {:.1f} "
        "%</text>\n",
        y + 19, escape_html(name), kNames, y + 5, std::max(width, 1.0),
        s == 0 ? "var(--accent)" : "var(--open)", kNames + std::max(width, 1.0) + 8, y + 19,
        group_digits(static_cast<double>(use.episodes)), 100 * use.share);
  }
  return out + "</svg>\n";
}

}  // namespace

std::string make_evaluation_page(const EvaluationOutcome& outcome, const std::string& command) {
  std::string out = kHead;
  out += fmt::format("<title>{} · hilo</title>\n<style>\n{}</style>\n</head>\n<body>\n",
                     escape_html(outcome.name), page_css());
  out += fmt::format(
      "<header class=\"top\"><h1>{}: what is {} worth?</h1><p "
      "class=\"lead\">{}</p></header>\n<main "
      "id=\"main\">\n",
      escape_html(outcome.name), outcome.policies.size() == 1 ? "the policy" : "each policy",
      escape_html(headline(outcome)));
  for (const std::string& caution : cautions(outcome))
    out += fmt::format("<p class=\"missing\">{}</p>\n", escape_html(caution));
  for (const std::string& note : outcome.notes)
    out += fmt::format("<p class=\"note\">{}</p>\n", escape_html(note));
  const PolicyResult& first = outcome.policies[0];
  out +=
      fmt::format("<figure><div class=\"scroll\">{}</div><p class=\"note\">{}</p></figure>\n",
                  value_picture(outcome),
                  escape_html(outcome.policies.size() == 1 && first.value.best.controlled
                                  ? fmt::format("The value with its interval; the same expensive "
                                                "episodes without help; and the width that plain "
                                                "expensive episodes would have had for the same "
                                                "cost. Worth {:.0f} plain episodes.",
                                                first.value.worth_episodes)
                                  : "Values with their intervals."));
  out += differences_picture(outcome);
  if (outcome.simulators.size() > 1)
    out += fmt::format(
        "<figure><div class=\"scroll\">{}</div><p class=\"note\">Where the money "
        "went.</p></figure>\n",
        allocation_picture(outcome));
  if (outcome.simulators.size() > 1) {
    out += "<ul class=\"findings\">";
    for (const std::string& verdict : cheap_verdicts(outcome))
      out += fmt::format("<li>{}</li>", escape_html(verdict));
    out += "</ul>\n";
  }
  for (const Table& table : evaluation_tables(outcome)) out += html_table(table);
  return out + fmt::format(
                   "</main>\n<footer><h2>About this page</h2><dl class=\"facts\"><dt>command</dt>"
                   "<dd>{}</dd><dt>made by</dt><dd>{}</dd></dl><p>Nothing on this page is loaded "
                   "from anywhere.</p></footer>\n</body>\n</html>\n",
                   escape_html(command), escape_html(program_name()));
}

}  // namespace hilo
