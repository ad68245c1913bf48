#include "hilo/report/experiment_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "hilo/report/shipped.hpp"
#include "hilo/report/tables.hpp"
#include "hilo/report/variants.hpp"

namespace hilo {
namespace {

using Row = std::vector<std::string>;

// The value of "part.key = value" in a canonical configuration; "" if there is none.
std::string canonical_value(const std::string& canonical, const std::string& key) {
  const std::string start = key + " = ";
  std::size_t line = 0;
  while (line < canonical.size()) {
    const std::size_t end = std::min(canonical.find('\n', line), canonical.size());
    if (canonical.compare(line, start.size(), start) == 0)
      return canonical.substr(line + start.size(), end - line - start.size());
    line = end + 1;
  }
  return "";
}

std::string without_quotes(std::string text) {
  std::erase(text, '"');
  return text;
}

std::string setting_of(const std::vector<AgentStatus>& agents, const Provenance& provenance) {
  if (agents.empty()) return "";
  const std::string& canonical = agents[0].canonical;
  const auto value = [&](const char* key) {
    return without_quotes(canonical_value(canonical, key));
  };
  std::string text = value("problem.kind");
  for (const auto& [key, unit] :
       {std::pair("problem.states", "states"), std::pair("problem.actions", "actions")})
    if (!value(key).empty()) text += fmt::format(", {} {}", value(key), unit);
  const bool in_steps = value("train.episodes") == "0";
  text += in_steps
              ? fmt::format("; {} high-fidelity steps",
                            group_digits(std::strtod(value("train.steps").c_str(), nullptr)))
              : fmt::format("; {} high-fidelity episodes",
                            group_digits(std::strtod(value("train.episodes").c_str(), nullptr)));
  text += fmt::format(
      ", γ = {}, ε = {}; seeds {} to {}, a new problem for each; a test of {} "
      "episodes every {}",
      value("train.gamma"), value("train.epsilon"), provenance.first_seed, provenance.last_seed,
      value("test.episodes"), value("test.every"));
  return text;
}

std::string title_of(const std::string& experiment) {
  for (const ShippedSpec& spec : shipped_specs())
    if (spec.name == experiment) return std::string(description_of(spec));
  return "";
}

std::vector<std::string> missing_runs(const std::vector<AgentStatus>& agents) {
  std::vector<std::string> out;
  for (const AgentStatus& a : agents) {
    if (a.finished == a.planned) continue;
    out.push_back(fmt::format("{}: {} of {} runs are there{}", a.agent, a.finished, a.planned,
                              a.failed > 0 ? fmt::format(", {} failed", a.failed) : ""));
  }
  return out;
}

std::string mean_and_error(const Summary& s, int digits = 4) {
  if (s.n == 0) return "–";
  if (s.n == 1) return fmt::format("{:.{}f}", s.mean, digits);
  return fmt::format("{:.{}f} ± {:.{}f}", s.mean, digits, s.standard_error, digits);
}

std::string with_interval(const Estimate& e) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", e.value, e.interval.low, e.interval.high);
}

enum class Side : std::uint8_t { above, below, unclear };

Side side_of(const Summary& difference) {
  if (difference.n < 2) return Side::unclear;
  if (difference.low > 0) return Side::above;
  return difference.high < 0 ? Side::below : Side::unclear;
}

const char* word_of(Side side) {
  switch (side) {
    case Side::above:
      return "above";
    case Side::below:
      return "below";
    case Side::unclear:
      return "cannot be told";
  }
  return "";
}

const char* level_name(const Analysis& analysis) {
  return analysis.level_metric == "policy_reward" ? "exact mean reward per step"
                                                  : "mean reward per step";
}

Table outcome_table(const Analysis& analysis) {
  Table table{
      .title = "Where they end",
      .rows = {{"agent", "seeds", "test reward", "exact reward", "share of optimum",
                fmt::format("minus {}", analysis.baseline), "verdict"}},
      .note = fmt::format(
          "Mean ± standard error over seeds at the end of training. Test reward is the "
          "paper's y axis, the mean reward per step of test episodes; exact reward is its "
          "expectation; the share is the exact discounted value of the greedy policy over "
          "that of an optimal one. The difference is of the {}, paired by seed, with its 95 % "
          "interval (Student's t); above and below say that the interval is clear of 0.",
          level_name(analysis))};
  for (const AgentAnalysis& a : analysis.agents) {
    Row row = {a.agent, fmt::format("{}", a.seeds), mean_and_error(a.final_reward),
               a.exact ? mean_and_error(*a.exact) : "–",
               a.share ? fmt::format("{:.1f} %", 100 * a.share->mean) : "–"};
    if (a.advantage && a.advantage->n >= 2) {
      row.push_back(fmt::format("{:+.4f} [{:+.4f}, {:+.4f}]", a.advantage->mean, a.advantage->low,
                                a.advantage->high));
      row.emplace_back(word_of(side_of(*a.advantage)));
    } else {
      row.insert(row.end(), {"–", "–"});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table robust_table(const Analysis& analysis) {
  Table table{
      .title = "Robust statistics",
      .rows = {{"agent", "interquartile mean", fmt::format("P(better than {})", analysis.baseline),
                "mean over training"}},
      .note = fmt::format(
          "Interquartile mean of the final {}; share of the seeds on which it ends above {}, ties "
          "half; mean test reward over all of training (area under the curve). In brackets 95 % "
          "percentile bootstrap intervals: {} resamples of the {} seeds that all agents have, the "
          "same resamples for all agents.",
          level_name(analysis), analysis.baseline, Bootstrap::kResamples, analysis.seeds.size())};
  if (analysis.seeds.size() < 2) return table;
  for (const AgentAnalysis& a : analysis.agents)
    table.rows.push_back({a.agent, with_interval(a.iqm),
                          a.improvement ? with_interval(*a.improvement) : "–",
                          with_interval(a.area)});
  return table;
}

std::string show_episodes(double episodes, std::uint64_t last) {
  if (std::isfinite(episodes)) return group_digits(std::round(episodes));
  return fmt::format("> {}", group_digits(static_cast<double>(last)));
}

std::string show_need(const Need& need, std::uint64_t last) {
  const Estimate& e = need.episodes;
  if (!std::isfinite(e.value) && !std::isfinite(e.interval.low))
    return show_episodes(e.value, last);
  return fmt::format("{} [{}, {}]", show_episodes(e.value, last),
                     show_episodes(e.interval.low, last), show_episodes(e.interval.high, last));
}

std::string show_saving(const Need& need) {
  const Estimate& s = need.saving;
  switch (need.bound) {
    case Need::Bound::exact:
      return fmt::format("{:.2f}× [{:.2f}, {:.2f}]", s.value, s.interval.low, s.interval.high);
    case Need::Bound::at_least:
      return fmt::format("≥ {:.2f}×", s.value);
    case Need::Bound::at_most:
      return fmt::format("< {:.2f}×", s.value);
    case Need::Bound::none:
      return "–";
  }
  return "";
}

// One column for each level.
Table level_table(const Analysis& analysis, std::string title, std::string note,
                  const std::function<std::string(const AgentAnalysis&, const Need&)>& cell) {
  Table table{.title = std::move(title), .rows = {{"agent"}}, .note = std::move(note)};
  for (const Level& level : analysis.levels) table.rows[0].push_back(level.name);
  for (const AgentAnalysis& a : analysis.agents) {
    if (a.needs.empty()) continue;
    table.rows.push_back({a.agent});
    for (const Need& need : a.needs) table.rows.back().push_back(cell(a, need));
  }
  return table;
}

Table needed_table(const Analysis& analysis) {
  return level_table(
      analysis, "Episodes needed",
      fmt::format(
          "High-fidelity episodes after which the mean over seeds of the exact policy value, "
          "as a share of the exact optimum, first reaches a level, interpolated between "
          "exact tests; \"> {}\" was not reached. 95 % bootstrap intervals over {} seeds.",
          group_digits(static_cast<double>(analysis.last_episode)), analysis.seeds.size()),
      [&](const AgentAnalysis&, const Need& need) {
        return show_need(need, analysis.last_episode);
      });
}

Table saving_table(const Analysis& analysis) {
  return level_table(
      analysis, fmt::format("Saving against {}", analysis.baseline),
      fmt::format(
          "{0}'s episodes over the agent's: above 1 the agent needs fewer. A lower bound (≥) "
          "where {0} does not get there, an upper one (<) where the agent does not.",
          analysis.baseline),
      [&](const AgentAnalysis& a, const Need& need) {
        return a.agent == analysis.baseline ? std::string("–") : show_saving(need);
      });
}

Table ratio_table(const std::vector<RatioBox>& boxes) {
  Table table{.title = "Variance ratio",
              .rows = {{"agent", "seeds", "median", "quartiles", "whiskers", "outliers"}},
              .note =
                  "Mean of 1 − ρ² over the pairs that an episode updates, averaged over the "
                  "last 1000 episodes of a run; 1 means that nothing was gained. Whiskers reach "
                  "to the last run within 1.5 times the box."};
  for (const RatioBox& b : boxes)
    table.rows.push_back({b.agent, fmt::format("{}", b.seeds),
                          fmt::format("{:.4f}", b.box.quartiles.median),
                          fmt::format("[{:.4f}, {:.4f}]", b.box.quartiles.q1, b.box.quartiles.q3),
                          fmt::format("[{:.4f}, {:.4f}]", b.box.low_whisker, b.box.high_whisker),
                          fmt::format("{}", b.box.outliers.size())});
  return table;
}

// A table of means over seeds of what was measured at the end.
struct Column {
  const char* name;
  const char* metric;
  const char* format;  // of the mean and of the standard error
};

Table final_table(const Results& results, std::string title, std::string note,
                  const std::vector<Column>& columns) {
  Table table{.title = std::move(title), .rows = {{"agent", "seeds"}}, .note = std::move(note)};
  std::vector<Column> present;
  for (const Column& column : columns)
    if (results.has_metric(column.metric)) present.push_back(column);
  for (const Column& column : present) table.rows[0].emplace_back(column.name);
  for (const std::string& agent : results.agents()) {
    if (std::ranges::none_of(present,
                             [&](const Column& c) { return results.has_metric(agent, c.metric); }))
      continue;
    Row row = {agent, fmt::format("{}", results.num_seeds(agent))};
    for (const Column& column : present) {
      const Summary s = summarise(values_of(results.final_of(agent, column.metric)));
      row.push_back(s.n == 0 ? "–"
                    : s.n == 1
                        ? fmt::format(fmt::runtime(column.format), s.mean)
                        : fmt::format("{} ± {}", fmt::format(fmt::runtime(column.format), s.mean),
                                      fmt::format(fmt::runtime(column.format), s.standard_error)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table cost_table(const Results& results) {
  Table table{.title = "What a run cost",
              .rows = {{"agent", "seeds", "high-fidelity steps", "low-fidelity steps",
                        "low per high", "seconds", "cut by max_steps"}},
              .note =
                  "Means over seeds. Seconds are those of training alone, on the machines named "
                  "below; they are the only numbers here that another run will not repeat."};
  for (const std::string& agent : results.agents()) {
    const auto mean = [&](const char* metric) {
      return summarise(values_of(results.final_of(agent, metric))).mean;
    };
    if (results.num_seeds(agent) == 0) continue;
    const double high = mean("high_steps");
    table.rows.push_back(
        {agent, fmt::format("{}", results.num_seeds(agent)), group_digits(std::round(high)),
         group_digits(std::round(mean("low_steps"))),
         high > 0 ? fmt::format("{:.1f}", mean("low_steps") / high) : "–",
         fmt::format("{:.2f}", mean("seconds")), group_digits(std::round(mean("truncated")))});
  }
  return table;
}

Table comparison_rows(const std::vector<Comparison>& comparisons) {
  Table table{
      .title = "Against the paper",
      .rows = {{"agent", "metric", "episode", "ours ± se", "published", "difference", "verdict"}},
      .note = fmt::format(
          "Published values are means ± sd, or medians [quartiles], over {} seeds. A value agrees "
          "if it lies within {} standard errors of the difference, both sides' seeds counted; for "
          "medians these come from the quartiles.",
          comparisons.empty() ? 0 : comparisons[0].published.seeds, kAgreement)};
  for (const Comparison& c : comparisons)
    table.rows.push_back({c.published.agent, c.published.metric,
                          group_digits(static_cast<double>(c.published.episode)), show_ours(c),
                          show_published(c.published), show_difference(c), show_verdict(c)});
  return table;
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

void find_best(const Analysis& analysis, std::vector<std::string>& out) {
  const auto level = [&](const AgentAnalysis& a) {
    return a.exact ? a.exact->mean : a.final_reward.mean;
  };
  const auto best = std::ranges::max_element(analysis.agents, {}, level);
  if (best == analysis.agents.end()) return;
  const Summary& s = best->exact ? *best->exact : best->final_reward;
  std::string text = fmt::format("{} ends highest: {} {:.3f} [{:.3f}, {:.3f}] over {} seeds",
                                 best->agent, level_name(analysis), s.mean, s.low, s.high, s.n);
  if (best->share)
    text += fmt::format(", {:.0f} % of the exact optimal value", 100 * best->share->mean);
  out.push_back(text + ".");
}

void find_sides(const Analysis& analysis, std::vector<std::string>& out) {
  std::vector<std::string> sides[3];
  std::size_t count = 0;
  for (const AgentAnalysis& a : analysis.agents)
    if (a.advantage && a.advantage->n >= 2) {
      sides[static_cast<std::size_t>(side_of(*a.advantage))].push_back(a.agent);
      ++count;
    }
  if (count == 0) return;
  out.push_back(fmt::format(
      "Against {}, paired by seed, with a 95 % interval clear of 0: above: {}; below: {}; cannot "
      "be told: {}.",
      analysis.baseline, joined(sides[0]), joined(sides[1]), joined(sides[2])));
}

void find_saving(const Analysis& analysis, std::vector<std::string>& out) {
  const AgentAnalysis* best = nullptr;
  for (const AgentAnalysis& a : analysis.agents) {
    if (a.agent == analysis.baseline || a.needs.empty() ||
        a.needs.back().bound != Need::Bound::exact)
      continue;
    if (best == nullptr || a.needs.back().saving.value > best->needs.back().saving.value) best = &a;
  }
  if (best == nullptr) return;
  const Need& need = best->needs.back();
  out.push_back(fmt::format(
      "{} reaches {}'s final level after {} of {} episodes: {:.1f} times fewer [{:.1f}, {:.1f}].",
      best->agent, analysis.baseline, group_digits(std::round(need.episodes.value)),
      group_digits(static_cast<double>(analysis.last_episode)), need.saving.value,
      need.saving.interval.low, need.saving.interval.high));
}

std::vector<std::string> find_all(const ExperimentReport& report) {
  std::vector<std::string> out;
  if (report.same_runs_as.empty()) {
    find_best(report.analysis, out);
    find_sides(report.analysis, out);
    find_saving(report.analysis, out);
  } else {
    out.push_back(fmt::format("These runs are part of {}, where their learning curves are.",
                              report.same_runs_as));
  }
  if (!report.comparisons.empty())
    out.push_back(
        fmt::format("{} of {} published values agree with ours.",
                    std::ranges::count(report.comparisons, Verdict::agrees, &Comparison::verdict),
                    report.comparisons.size()));
  return out;
}

const std::vector<Column> kBiasColumns = {
    {"rms bias", "bias_rms", "{:.3f}"},
    {"sd of a return", "return_sd", "{:.3f}"},
    {"worse than plain Monte Carlo beyond n", "bias_break_even", "{:.1f}"},
};

const std::vector<Column> kProblemColumns = {
    {"SNR of P, dB", "problem_transition_snr_db", "{:.2f}"},
    {"SNR of R, dB", "problem_reward_snr_db", "{:.2f}"},
    {"mean abs(P_hi − P_lo)", "problem_mean_abs_transition_difference", "{:.5f}"},
    {"mean abs(R_hi − R_lo)", "problem_mean_abs_reward_difference", "{:.4f}"},
    {"negative entries before projection", "problem_negative_share", "{:.3f}"},
    {"optimal value", "optimal_value", "{:.3f}"},
    {"y axis of an optimal policy", "optimal_reward", "{:.4f}"},
};

}  // namespace

std::string group_digits(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t place = digits.size(); place > 3 && digits[place - 4] != '-';) {
    place -= 3;
    digits.insert(place, 1, ' ');
  }
  return digits;
}

std::vector<RatioBox> ratio_boxes(const Results& results) {
  std::vector<RatioBox> boxes;
  const auto published = published_points(results.experiment());
  for (const std::string& agent : results.agents()) {
    if (!results.has_metric(agent, "correlation")) continue;  // it never made a correction
    const auto values = values_of(results.final_of(agent, "variance_ratio_last_1000"));
    if (values.empty()) continue;
    RatioBox box{.agent = agent, .seeds = values.size(), .box = box_plot(values), .published = {}};
    for (const PublishedPoint& p : published)
      if (p.agent == agent && p.statistic == Statistic::median) box.published = p;
    boxes.push_back(std::move(box));
  }
  return boxes;
}

std::string same_runs_as(const Store& store, const Results& results) {
  std::set<std::string> ours;
  for (const std::string& agent : results.agents()) ours.insert(results.config_of(agent));
  for (const std::string& other : store.experiments()) {
    std::set<std::string> theirs;
    for (const std::string& agent : store.agents(other))
      theirs.insert(store.config_of(other, agent));
    if (other != results.experiment() && theirs.size() > ours.size() &&
        std::ranges::includes(theirs, ours))
      return other;
  }
  return "";
}

ExperimentReport make_experiment_report(const Store& store, const Results& results) {
  ExperimentReport report;
  report.name = results.experiment();
  report.title = title_of(report.name);
  const auto status = store.agent_status(report.name);
  report.provenance = store.provenance(report.name);
  report.setting = setting_of(status, report.provenance);
  report.same_runs_as = same_runs_as(store, results);
  report.missing = missing_runs(status);
  report.analysis = analyse(results);
  report.comparisons = compare_with_published(results);
  report.boxes = ratio_boxes(results);
  report.variants = explain_variants(results, report.analysis);
  report.findings = find_all(report);

  if (report.same_runs_as.empty()) {
    report.outcome = outcome_table(report.analysis);
    report.robust = robust_table(report.analysis);
    if (!report.analysis.levels.empty()) {
      report.needed = needed_table(report.analysis);
      report.saving = saving_table(report.analysis);
    }
    report.cost = cost_table(results);
  }
  report.ratios = ratio_table(report.boxes);
  report.bias = final_table(
      results, "Bias of the paper's estimator",
      "Exact, for the last policy of each run: root mean square over all pairs of state and action "
      "of α (E[G_lo | P_lo] − E[G_lo | P_hi]), which no number of episodes removes. Beyond n "
      "returns of a pair, plain Monte Carlo has the smaller mean squared error.",
      kBiasColumns);
  report.problem = final_table(results, "The problem's own figures",
                               "Means ± standard errors over seeds, each with its own problem.",
                               kProblemColumns);
  report.comparison = comparison_rows(report.comparisons);
  return report;
}

std::vector<std::string> missing_of_studies(const std::vector<std::string>& experiments) {
  std::vector<std::string> out;
  for (const ShippedStudy& study : shipped_studies()) {
    std::vector<std::string_view> missing;
    for (const std::string_view spec : study.specs)
      if (std::ranges::find(experiments, spec) == experiments.end()) missing.push_back(spec);
    if (!missing.empty() && missing.size() < study.specs.size())
      out.push_back(fmt::format(
          "Of the study '{}' the store does not hold {} (hilo reproduce {} runs what is missing).",
          study.name, fmt::join(missing, ", "), study.name));
  }
  return out;
}

}  // namespace hilo
