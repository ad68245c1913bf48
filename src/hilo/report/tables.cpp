#include "hilo/report/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "hilo/report/text_tables.hpp"

namespace hilo {
namespace {

using Row = std::vector<std::string>;

std::string mean_and_error(const Summary& s, int digits = 4) {
  if (s.n == 0) return "–";
  if (s.n == 1) return fmt::format("{:.{}f}", s.mean, digits);
  return fmt::format("{:.{}f} ± {:.{}f}", s.mean, digits, s.standard_error, digits);
}

std::string with_interval(const Estimate& e) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", e.value, e.interval.low, e.interval.high);
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

std::string show_share(const Summary& s) {
  if (s.n < 2) return fmt::format("{:.1f} %", 100 * s.mean);
  return fmt::format("{:.1f} ± {:.1f} %", 100 * s.mean, 100 * s.standard_error);
}

std::string show_episodes(double episodes, std::uint64_t last) {
  if (std::isfinite(episodes)) return group_digits(std::round(episodes));
  return fmt::format("> {}", group_digits(static_cast<double>(last)));
}

// With `few`, there are too few seeds for an interval.
std::string show_need(const Need& need, std::uint64_t last, bool few) {
  const Estimate& e = need.episodes;
  if (few || (!std::isfinite(e.value) && !std::isfinite(e.interval.low)))
    return show_episodes(e.value, last);
  return fmt::format("{} [{}, {}]", show_episodes(e.value, last),
                     show_episodes(e.interval.low, last), show_episodes(e.interval.high, last));
}

std::string show_limit(const Saving& s) {
  switch (s.bound) {
    case Saving::Bound::at_least:
      return fmt::format("≥ {:.2f}", s.value);
    case Saving::Bound::at_most:
      return fmt::format("≤ {:.2f}", s.value);
    default:
      return fmt::format("{:.2f}", s.value);
  }
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

// A column of final_table: the mean or the median over seeds of a metric at the end.
struct Column {
  const char* name;
  const char* metric;
  const char* format;  // of every number in a cell
  bool median = false;
};

std::string show_column(const Column& column, const std::vector<double>& values) {
  const auto show = [&](double value) { return fmt::format(fmt::runtime(column.format), value); };
  if (values.empty()) return "–";
  if (column.median) {
    const Quartiles q = quartiles(values);
    return fmt::format("{} [{}, {}]", show(q.median), show(q.q1), show(q.q3));
  }
  const Summary s = summarise(values);
  return s.n == 1 ? show(s.mean) : fmt::format("{} ± {}", show(s.mean), show(s.standard_error));
}

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
    for (const Column& column : present)
      row.push_back(show_column(column, values_of(results.final_of(agent, column.metric))));
    table.rows.push_back(std::move(row));
  }
  return table;
}

const std::vector<Column> kBiasColumns = {
    {"rms bias", "bias_rms", "{:.3f}"},
    {"sd of a return", "return_sd", "{:.3f}"},
    {"worse than plain Monte Carlo beyond n, median [quartiles]", "bias_break_even", "{:.1f}",
     true},
};

const std::vector<Column> kProblemColumns = {
    {"SNR of P, dB", "problem_transition_snr_db", "{:.2f}"},
    {"SNR of R, dB", "problem_reward_snr_db", "{:.2f}"},
    {"mean abs(P_hi − P_lo)", "problem_mean_abs_transition_difference", "{:.5f}"},
    {"mean abs(R_hi − R_lo)", "problem_mean_abs_reward_difference", "{:.4f}"},
    {"negative entries before projection", "problem_negative_share", "{:.3f}"},
    {"correlation of accuracies", "problem_accuracy_correlation", "{:.3f}"},
    {"best accuracy of all", "problem_best_accuracy_of_all", "{:.2f}"},
    {"optimal value", "optimal_value", "{:.3f}"},
    {"y axis of an optimal policy", "optimal_reward", "{:.4f}"},
};

}  // namespace

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

Side side_of(const Summary& difference) {
  if (difference.n < 2) return Side::unclear;
  if (difference.low > 0) return Side::above;
  return difference.high < 0 ? Side::below : Side::unclear;
}

const char* level_name(const Analysis& analysis) {
  if (analysis.level_metric == "policy_value") return "exact discounted value";
  if (analysis.level_metric == "test_return") return "discounted return of tests";
  if (analysis.level_metric == "train_return") return "discounted return of training episodes";
  return analysis.level_metric == "policy_reward" ? "exact mean reward per step"
                                                  : "mean reward per step";
}

namespace {

bool tested(const Analysis& analysis) { return analysis.reward_metric.starts_with("test_"); }

// "test reward" or "training return".
std::string measured(const Analysis& analysis) {
  return fmt::format("{} {}", tested(analysis) ? "test" : "training",
                     analysis.reward_metric.ends_with("_return") ? "return" : "reward");
}

std::string explain_measured(const Analysis& analysis) {
  if (analysis.reward_metric == "test_reward")
    return "Test reward is the paper's y axis, the mean reward per step of test episodes";
  if (analysis.reward_metric == "test_return")
    return "Test return is the discounted return of test episodes";
  return fmt::format(
      "{} of the last training episodes, exploration included, as nothing was tested",
      analysis.reward_metric == "train_return" ? "Training return is the discounted return"
                                               : "Training reward is the mean reward per step");
}

}  // namespace

Table outcome_table(const Analysis& analysis) {
  Table table{
      .title = "Where they end",
      .rows = {{"agent", "seeds", measured(analysis),
                analysis.level_metric == "policy_value" ? "exact value" : "exact reward",
                "share of optimum", fmt::format("minus {}", analysis.baseline), "verdict"}},
      .note = fmt::format(
          "Mean ± standard error over seeds at the end of training. {}; {}; the share is the exact "
          "discounted value of the greedy policy over "
          "that of an optimal one. The difference is of the {}, paired by seed, with its 95 % "
          "interval (Student's t); above and below say that the interval is clear of 0.",
          explain_measured(analysis),
          analysis.level_metric == "policy_value"
              ? "exact value is the expected discounted return of the greedy policy from the start"
              : "exact reward is its expectation",
          level_name(analysis))};
  for (const AgentAnalysis& a : analysis.agents) {
    Row row = {a.agent, fmt::format("{}", a.seeds), mean_and_error(a.final_reward),
               a.exact ? mean_and_error(*a.exact) : "–", a.share ? show_share(*a.share) : "–"};
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
          "half, with Wilson's 95 % interval; mean {} over all of training (area under "
          "the "
          "curve). In brackets otherwise 95 % percentile bootstrap intervals: {} resamples of the "
          "{} "
          "seeds that all agents have, the same resamples for all agents.",
          level_name(analysis), analysis.baseline, measured(analysis), Bootstrap::kResamples,
          analysis.seeds.size())};
  if (analysis.seeds.size() < 2) return table;
  for (const AgentAnalysis& a : analysis.agents)
    table.rows.push_back({a.agent, with_interval(a.iqm),
                          a.improvement ? with_interval(*a.improvement) : "–",
                          with_interval(a.area)});
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
        return show_need(need, analysis.last_episode, analysis.seeds.size() < 2);
      });
}

Table saving_table(const Analysis& analysis) {
  return level_table(
      analysis, fmt::format("Saving against {}", analysis.baseline),
      fmt::format(
          "{0}'s episodes over the agent's: above 1 the agent needs fewer. A lower bound (≥) "
          "where {0} does not get there, an upper one (≤) where the agent does not. From the "
          "start: no "
          "expensive episode was needed.",
          analysis.baseline),
      [&](const AgentAnalysis& a, const Need& need) {
        return a.agent == analysis.baseline || analysis.seeds.size() < 2 ? std::string("–")
                                                                         : show_saving(need);
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

Table published_table(const std::vector<Comparison>& comparisons) {
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

std::string show_saving(const Need& need) {
  const Saving& s = need.saving;
  if (need.episodes.value == 0) return "from the start";
  if (!need.saving_interval || s.bound == Saving::Bound::none) return "–";
  const auto& [low, high] = *need.saving_interval;
  switch (s.bound) {
    case Saving::Bound::exact:
      return fmt::format("{:.2f}× [{}, {}]", s.value, show_limit(low), show_limit(high));
    case Saving::Bound::at_least:
      return fmt::format(
          "≥ {:.2f}× [{}]", s.value,
          show_limit(low.bound == Saving::Bound::at_most ? low : Saving{s.bound, low.value}));
    default:
      return fmt::format(
          "≤ {:.2f}× [{}]", s.value,
          show_limit(high.bound == Saving::Bound::at_least ? high : Saving{s.bound, high.value}));
  }
}

Table bias_table(const Results& results) {
  return final_table(
      results, "Bias of the paper's estimator",
      "Exact, for the last policy of each run held fixed, with the true α and a population mean "
      "that "
      "is known: root mean square over all pairs of state and action of "
      "α (E[G_lo | P_lo] − E[G_lo | P_hi]), which no number of episodes removes. With m free "
      "returns "
      "for each paired one in the pool it is m/(m + 1) of that. Beyond n returns of a pair, plain "
      "Monte Carlo has the smaller mean squared error; the median over seeds.",
      kBiasColumns);
}

Table problem_table(const Results& results) {
  return final_table(results, "The problem's own figures", "Means ± standard errors over seeds.",
                     kProblemColumns);
}
}  // namespace hilo
