#include "hilo/report/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "hilo/core/version.hpp"
#include "hilo/report/chart_data.hpp"
#include "hilo/report/colours.hpp"
#include "hilo/report/detail/assets.hpp"
#include "hilo/report/diagnosis_report.hpp"
#include "hilo/report/experiment_report.hpp"
#include "hilo/report/findings.hpp"
#include "hilo/report/html.hpp"
#include "hilo/report/problem_view.hpp"
#include "hilo/report/values_report.hpp"

namespace hilo {
namespace {

// The page contains Chart.js as Debian ships it; its licence requires this notice.
constexpr const char* kChartLicence = R"(Chart.js, https://www.chartjs.org
Copyright (c) 2014-2022 Chart.js Contributors, the MIT License:

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.)";

// The content security policy forbids loading anything, so the page is sure to work offline.
constexpr const char* kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
)";

std::string paragraph_list(const std::vector<std::string>& items, const char* css) {
  std::string out = fmt::format("<ul class=\"{}\">", css);
  for (const std::string& item : items) out += fmt::format("<li>{}</li>", escape_html(item));
  return out + "</ul>\n";
}

std::string missing_box(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  return fmt::format("<div class=\"missing\" role=\"note\"><strong>{}</strong>{}</div>\n",
                     escape_html(title), paragraph_list(items, "plain"));
}

std::string select(const char* control, const char* label,
                   const std::vector<std::pair<std::string, std::string>>& choices) {
  std::string out = fmt::format("<label>{} <select data-control=\"{}\">", label, control);
  for (const auto& [value, text] : choices)
    out += fmt::format("<option value=\"{}\">{}</option>", value, escape_html(text));
  return out + "</select></label>";
}

std::string chart_figure(std::size_t experiment, std::size_t index, const ChartSpec& chart,
                         const Results& results) {
  std::vector<std::pair<std::string, std::string>> metrics;
  for (std::size_t i = 0; i < chart.metrics.size(); ++i)
    metrics.emplace_back(fmt::format("{}", i), chart.metrics[i].name);
  std::string out = fmt::format(
      "<figure class=\"chart\" data-experiment=\"{}\" data-chart=\"{}\"><h3>{}{}</h3>"
      "<div class=\"controls\">",
      experiment, index, escape_html(chart.title), results.is_stand_in() ? " (stand-in data)" : "");
  if (metrics.size() > 1) out += select("metric", "Show", metrics);
  out += select("band", "Band",
                {{"interval", "95 % interval"}, {"sd", "± standard deviation"}, {"none", "none"}});
  // The first one is chosen. With few episodes, most is learnt in the first ones.
  std::vector<std::pair<std::string, std::string>> axes = {{"linear", "linear"},
                                                           {"log", "logarithmic"}};
  if (results.has_vectors()) std::swap(axes[0], axes[1]);
  out += select("axis", "Episodes", axes);
  out += fmt::format(
      "</div><div class=\"legend\" role=\"group\" aria-label=\"Curves to show\"></div>"
      "<div class=\"canvas{}\"><canvas role=\"img\" aria-label=\"{}\"></canvas></div>"
      "<p class=\"note level\"></p><figcaption class=\"note\">{}</figcaption>"
      "<details class=\"data\"><summary>Data of this chart as a table</summary>"
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Data of this chart\">"
      "<table></table></div></details></figure>\n",
      chart.small ? " small" : "", escape_html(chart.title), escape_html(chart.note));
  return out;
}

std::string sentences_block(const char* title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string out = fmt::format("<div class=\"block\"><h3>{}</h3>", title);
  for (const std::string& sentence : sentences)
    out += fmt::format("<p>{}</p>", escape_html(sentence));
  return out + "</div>\n";
}

std::string fact(const char* name, const std::string& value) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>", name, escape_html(value));
}

std::string experiment_provenance(const Provenance& p) {
  std::string out =
      "<details class=\"provenance\"><summary>Where these results come from</summary><dl "
      "class=\"facts\">";
  out += fact("program", fmt::format("{}", fmt::join(p.programs, ", ")));
  out += fact("machine", fmt::format("{}", fmt::join(p.machines, "; ")));
  out += fact("host", fmt::format("{}", fmt::join(p.hosts, ", ")));
  out += fact("seeds", fmt::format("{} to {}", p.first_seed, p.last_seed));
  if (!p.first_finished.empty())
    out += fact("runs finished", fmt::format("{} to {} UTC", p.first_finished, p.last_finished));
  out += "</dl>";
  if (!p.spec.empty())
    out += fmt::format("<pre tabindex=\"0\" aria-label=\"spec\"><code>{}</code></pre>",
                       escape_html(p.spec));
  return out + "</details>\n";
}

// The stored result of hilo diagnose for the experiment; "" if there is none.
std::string diagnosis_block(const Store& store, const std::string& experiment) {
  const std::string json = store.diagnosis(experiment);
  if (json.empty()) return "";
  const StoredDiagnosis found = read_diagnosis(json);
  return fmt::format(
      "<div class=\"block diagnosis\"><h3>Diagnosis: {}</h3><p class=\"note\">A pilot study "
      "({})</p>{}</div>\n",
      escape_html(found.verdict), escape_html(found.title),
      paragraph_list(found.sentences, "plain"));
}

// One experiment as it appears on the page. Its results are dropped as soon as this is made.
struct Shown {
  ExperimentReport report;
  std::map<std::string, std::string> configs;  // by agent
  std::string html, data;
};

Shown show(const Store& store, const std::string& name, std::size_t index, const SharedRuns& all) {
  const Results results(store, name);
  Shown shown{
      .report = make_experiment_report(store, results, all), .configs = {}, .html = {}, .data = {}};
  for (const std::string& agent : results.agents()) shown.configs[agent] = results.config_of(agent);
  const ExperimentReport& r = shown.report;
  const bool whole = r.same_runs_as.empty();
  const std::vector<ChartSpec> charts = charts_of(results, whole);
  shown.data = chart_data(results, charts);

  std::string& out = shown.html;
  out += fmt::format(
      "<section class=\"experiment\" id=\"x-{0}\" aria-labelledby=\"x-{0}-title\">"
      "<h2 id=\"x-{0}-title\">{1}</h2>",
      escape_html(name), escape_html(results.title()));
  if (!r.title.empty()) out += fmt::format("<p>{}</p>", escape_html(r.title));
  out += fmt::format("<p class=\"setting\">{}</p>\n", escape_html(r.setting));
  out += diagnosis_block(store, name);
  out += missing_box("Not all runs are there", r.missing);
  out += paragraph_list(r.findings, "findings");
  if (whole && !charts.empty()) out += chart_figure(index, 0, charts[0], results);
  if (!r.boxes.empty())
    out += fmt::format(
        "<figure class=\"ratios\"><h3>Variance ratio at the end{}</h3>{}{}</figure>\n",
        r.stand_in ? " (stand-in data)" : "", html_boxes(r.boxes, results),
        "<figcaption class=\"note\">Each box holds the middle half of the seeds, the thick line is "
        "the median; dashed boxes are as-written. The numbers are in the table "
        "below.</figcaption>");
  out += html_table(r.outcome) + html_table(r.needed) + html_table(r.saving);
  const ProblemView& view = problem_view(results.problem_kind());
  out += html_table(r.of_problem);
  if (view.picture) out += view.picture(results);
  out += sentences_block("Why they end there", r.explanation);
  if (view.policies) out += view.policies(store, results);
  out += sentences_block("As written and as published", r.variants) + html_table(r.comparison);
  for (std::size_t i = whole ? 1 : 0; i < charts.size(); ++i)
    out += chart_figure(index, i, charts[i], results);
  if (whole) out += value_bars(store, results);
  for (const Table* table : {&r.sureness, &r.robust, &r.ratios, &r.bias, &r.problem, &r.cost})
    out += html_table(*table);
  out += experiment_provenance(r.provenance) + "</section>\n";
  return shown;
}

Table overview(const std::vector<Shown>& all) {
  Table table{.title = "Overview",
              .rows = {{"experiment", "agents", "runs", "published values", "largest saving"}},
              .note =
                  "Runs that experiments share are counted in each. The largest saving is that "
                  "of the agent which reaches the baseline's final level first."};
  for (const Shown& shown : all) {
    const ExperimentReport& r = shown.report;
    std::size_t runs = 0;
    for (const AgentAnalysis& a : r.analysis.agents) runs += a.seeds;
    const AgentAnalysis* best = r.same_runs_as.empty() ? largest_saving(r.analysis) : nullptr;
    const std::string saving =
        best == nullptr ? "–"
                        : fmt::format("{} ({})", show_saving(best->needs.back()), best->agent);
    table.rows.push_back({r.stand_in ? r.name + " (stand-in data)" : r.name,
                          fmt::format("{}", r.analysis.agents.size()), fmt::format("{}", runs),
                          r.comparisons.empty() ? (r.stand_in ? "not compared" : "none at hand")
                                                : count_agreement(r.comparisons),
                          saving});
  }
  return table;
}

// The short answer: how many agents end above and below their baseline, and how many of the paper's
// values are reproduced. What several experiments share is counted once.
std::string lead(const std::vector<Shown>& all) {
  if (all.empty()) return "No experiment has been run yet: the store is empty.";
  std::size_t stand_ins = 0;
  std::size_t above = 0;
  std::size_t below = 0;
  std::size_t unclear = 0;
  std::set<std::string> counted;
  std::vector<Comparison> comparisons;
  std::set<std::string> compared;
  for (const Shown& shown : all) {
    const ExperimentReport& r = shown.report;
    stand_ins += r.stand_in ? 1 : 0;
    if (r.stand_in) continue;  // made-up data says nothing about the question
    const Sides sides = sides_of(r.analysis);
    const auto count = [&](const std::vector<std::string>& agents) {
      return static_cast<std::size_t>(std::ranges::count_if(agents, [&](const std::string& agent) {
        return r.same_runs_as.empty() && counted.insert(shown.configs.at(agent)).second;
      }));
    };
    above += count(sides.above);
    below += count(sides.below);
    unclear += count(sides.unclear);
    for (const Comparison& c : r.comparisons)
      if (compared
              .insert(fmt::format("{} {} {}", shown.configs.at(c.published.agent),
                                  c.published.metric, c.published.episode))
              .second)
        comparisons.push_back(c);
  }
  std::string text = fmt::format("{} experiment{}.", all.size(), all.size() == 1 ? "" : "s");
  if (stand_ins > 0)
    text += fmt::format(" {} of them on stand-in data, which says nothing about real problems.",
                        stand_ins);
  if (above + below + unclear > 0)
    text += fmt::format(
        " Of {} agents that are compared with their baseline, {} end above it, {} below, and for "
        "{} "
        "it cannot be told (95 % intervals, paired by seed).",
        above + below + unclear, above, below, unclear);
  if (!comparisons.empty())
    text += fmt::format(" Against the paper, each value counted once: {}.",
                        count_agreement(comparisons));
  return text;
}

std::string footer(const ReportSource& source) {
  return fmt::format(
      "<footer><h2>About this page</h2><dl class=\"facts\">{}{}{}<dt>made</dt><dd>{}</dd></dl>"
      "<p>Charts are drawn by Chart.js (MIT licence, its notice is in the source of this page). "
      "Nothing on this page is loaded from anywhere.</p></footer>\n",
      fact("store", source.store), fact("command", source.command), fact("made by", program_name()),
      escape_html(source.date));
}

}  // namespace

std::string make_page(const Store& store, const ReportSource& source) {
  std::vector<Shown> all;
  const SharedRuns shared(store, source.experiments);
  for (const std::string& name : source.experiments)
    all.push_back(show(store, name, all.size(), shared));

  std::string out = kHead;
  const std::string title = "Did the cheap simulator help?";
  out += fmt::format("<title>{} · hilo</title>\n<style>\n{}</style>\n</head>\n<body>\n", title,
                     page_css());
  out += fmt::format(
      "<a class=\"skip\" href=\"#main\">Skip to the results</a>\n"
      "<header class=\"top\"><h1>{}</h1><p class=\"lead\">{}</p></header>\n",
      title, escape_html(lead(all)));
  out += "<nav aria-label=\"Experiments\"><div class=\"inner\"><div class=\"links\">";
  for (const Shown& shown : all)
    out += fmt::format("<a href=\"#x-{0}\">{0}</a>", escape_html(shown.report.name));
  out +=
      "</div><button type=\"button\" id=\"theme\">Dark</button></div></nav>\n<main id=\"main\">\n";
  out +=
      "<noscript><p class=\"missing\">The charts and the tables behind them need JavaScript; "
      "all else on this page does not.</p></noscript>\n";
  out += missing_box("Part of a study", missing_of_studies(store.experiments()));
  if (all.size() > 1) out += html_table(overview(all));
  // Pilot studies of experiments that have not been run yet.
  const auto known = store.experiments();
  for (const std::string& name : store.diagnosed())
    if (std::ranges::find(known, name) == known.end())
      out += fmt::format("<section class=\"experiment\"><h2>{}</h2>{}</section>\n",
                         escape_html(name), diagnosis_block(store, name));
  for (const Shown& shown : all) out += shown.html;
  out += "</main>\n" + footer(source);

  out += fmt::format(
      "<script type=\"application/json\" id=\"data\">{{\"colours\":{{\"light\":[\"{}\"],"
      "\"dark\":[\"{}\"]}},\"experiments\":[",
      fmt::join(kColours, "\",\""), fmt::join(kColoursOnDark, "\",\""));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) out += ",\n";
    out += all[i].data;
  }
  out += "]}</script>\n";
  out += fmt::format("<!--\n{}\n-->\n", kChartLicence);
  out += "<script>\n";
  out += chart_js();
  out += "</script>\n<script>\n";
  out += page_js();
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace hilo
