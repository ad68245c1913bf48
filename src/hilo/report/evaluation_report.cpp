#include "hilo/report/evaluation_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hilo/report/text_tables.hpp"

namespace hilo {
namespace {

std::string show(const ValueEstimate& e) {
  if (!e.has_interval) return fmt::format("{:.5g} (no interval)", e.value);
  return fmt::format("{:.5g} [{:.5g}, {:.5g}]", e.value, e.low, e.high);
}

std::string level_text(double level) { return fmt::format("{:.4g} %", 100 * level); }

std::string count_text(std::uint64_t n) { return group_digits(static_cast<double>(n)); }

std::string plural(std::uint64_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::uint64_t cheap_episodes(const EvaluationOutcome& outcome) {
  std::uint64_t sum = 0;
  for (const SimulatorUse& s : outcome.simulators)
    if (s.verdict) sum += s.episodes;
  return sum;
}

std::string spent_text(const EvaluationOutcome& outcome) {
  const std::uint64_t cheap = cheap_episodes(outcome);
  return fmt::format("{}{}{}", plural(outcome.simulators[0].episodes, "expensive episode"),
                     cheap > 0 ? fmt::format(" and {}", plural(cheap, "cheap one")) : "",
                     outcome.policies.size() > 1 ? " of each policy" : "");
}

// What the cheap simulators were worth.
std::string worth_text(const EvaluationOutcome& outcome) {
  if (outcome.simulators.size() == 1) return "";
  const EvaluatedValue& value =
      outcome.policies.size() == 1 ? outcome.policies[0].value : outcome.comparisons[0].difference;
  if (!value.best.has_interval) return "";
  if (!value.best.controlled) {
    const bool poor = std::ranges::all_of(outcome.simulators, [](const SimulatorUse& s) {
      return !s.verdict || s.verdict->reason.starts_with("its returns do not predict");
    });
    return fmt::format(" The cheap simulator{} {}.", outcome.simulators.size() == 2 ? "" : "s",
                       poor ? "did not help; plain expensive episodes are the better buy"
                       : outcome.simulators.size() == 2 ? "was not used"
                                                        : "were not used");
  }
  return fmt::format(
      " This is as sharp as {:.0f} plain expensive episodes{}, for the cost of {:.0f}.",
      value.worth_episodes, outcome.policies.size() > 1 ? " of each policy" : "",
      outcome.equal_episodes);
}

Table values_table(const EvaluationOutcome& outcome) {
  Table table{.title = fmt::format("The {} of each policy", outcome.quantity),
              .rows = {{"policy", "value", "expensive episodes alone", "worth plain episodes"}},
              .note = fmt::format(
                  "Values with {} intervals. 'Expensive episodes alone' uses the same expensive "
                  "episodes without the cheap simulators' help; 'worth' is how many plain "
                  "expensive episodes would give the standard error of the value.",
                  level_text(outcome.level))};
  for (const PolicyResult& p : outcome.policies)
    table.rows.push_back({p.name, show(p.value.best), show(p.value.plain),
                          fmt::format("{:.0f}", p.value.worth_episodes)});
  return table;
}

Table differences_table(const EvaluationOutcome& outcome) {
  Table table{.title = "Differences between policies",
              .rows = {{"", "difference", "expensive episodes alone", "verdict"}},
              .note =
                  "Both policies ran with the same random numbers in all simulators. All "
                  "intervals hold together (Bonferroni)."};
  for (const PolicyComparison& c : outcome.comparisons) {
    const ValueEstimate& e = c.difference.best;
    table.rows.push_back(
        {fmt::format("{} − {}", outcome.policies[c.a].name, outcome.policies[c.b].name), show(e),
         show(c.difference.plain),
         !c.is_clear() ? "cannot be told"
         : e.low > 0   ? fmt::format("{} is better", outcome.policies[c.a].name)
                       : fmt::format("{} is better", outcome.policies[c.b].name)});
  }
  return table;
}

Table simulators_table(const EvaluationOutcome& outcome) {
  Table table{.title = "Who was asked",
              .rows = {{"simulator", "episodes", "of these free", "cost of one",
                        "share of the cost", "correlation"}},
              .note = fmt::format(
                  "{}Costs are {}. Free episodes are those of a cheap simulator without an "
                  "expensive partner.",
                  outcome.coupling.empty() ? "" : fmt::format("In pairs, {}. ", outcome.coupling),
                  outcome.unit == CostUnit::seconds    ? "seconds, measured in the first episodes"
                  : outcome.unit == CostUnit::reported ? "what the simulators reported"
                                                       : "declared")};
  for (const SimulatorUse& s : outcome.simulators) {
    std::vector<std::string> row = {s.name,
                                    count_text(s.episodes),
                                    s.verdict ? count_text(s.free) : "",
                                    fmt::format("{:.4g}", s.mean_cost),
                                    fmt::format("{:.1f} %", 100 * s.share),
                                    ""};
    if (s.verdict) {
      if (s.verdict->pairs > 3)
        row[5] = fmt::format("{:.3f} [{:.3f}, {:.3f}]", s.verdict->correlation, s.verdict->low,
                             s.verdict->high);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table correlations_table(const EvaluationOutcome& outcome) {
  Table table;
  if (outcome.simulators.size() < 3) return table;
  table.title = "Correlations between the simulators";
  std::vector<std::string> names = {""};
  for (const SimulatorUse& s : outcome.simulators) names.push_back(s.name);
  table.rows.push_back(names);
  for (std::size_t i = 0; i < outcome.correlations.size(); ++i) {
    std::vector<std::string> row = {outcome.simulators[i].name};
    for (const double rho : outcome.correlations[i]) row.push_back(fmt::format("{:.3f}", rho));
    table.rows.push_back(std::move(row));
  }
  table.note = "Between the values of episodes that both have run with the same random numbers.";
  return table;
}

Table stages_table(const EvaluationOutcome& outcome) {
  Table table{
      .title = "The stages",
      .rows = {{"look", "expensive episodes", "half-width", "level of the look"}},
      .note = fmt::format(
          "The evaluation stops at the first look at which the interval reaches at most "
          "{:.4g} on either side. Every look spends a part of the 5 % of wrong intervals, so "
          "that looking often does not make them wrong more often.",
          outcome.until)};
  for (std::size_t k = 0; k < outcome.stages.size(); ++k)
    table.rows.push_back({fmt::format("{}", k + 1), count_text(outcome.stages[k].pairs),
                          fmt::format("{:.4g}", outcome.stages[k].half_width),
                          level_text(1 - outcome.stages[k].alpha)});
  return table;
}

}  // namespace

std::string headline(const EvaluationOutcome& outcome) {
  if (outcome.policies.size() == 1) {
    const PolicyResult& p = outcome.policies[0];
    const std::string name =
        p.name == "policy" ? "the policy" : fmt::format("the policy '{}'", p.name);
    return fmt::format(
        "{} of {} on the expensive simulator: {}{}, from {}.{}", outcome.quantity, name,
        show(p.value.best),
        p.value.best.has_interval ? fmt::format(", {} interval", level_text(outcome.level)) : "",
        spent_text(outcome), worth_text(outcome));
  }
  std::string text;
  if (outcome.best) {
    const std::string& name = outcome.policies[*outcome.best].name;
    if (outcome.policies.size() == 2) {
      ValueEstimate e = outcome.comparisons[0].difference.best;
      if (*outcome.best == 1)
        e = {.value = -e.value,
             .standard_error = e.standard_error,
             .low = -e.high,
             .high = -e.low,
             .has_interval = true,
             .controlled = e.controlled};
      text = fmt::format("'{}' is better than '{}': {} higher by {}, {} interval", name,
                         outcome.policies[1 - *outcome.best].name, outcome.quantity, show(e),
                         level_text(outcome.level));
    } else {
      text = fmt::format("'{}' is the best of {} policies ({}, intervals that hold together)", name,
                         outcome.policies.size(), outcome.quantity);
    }
  } else {
    text = fmt::format("Which policy is best ({}) cannot be told", outcome.quantity);
    if (outcome.policies.size() == 2)
      text += fmt::format(": the difference between '{}' and '{}' is {}, {} interval",
                          outcome.policies[0].name, outcome.policies[1].name,
                          show(outcome.comparisons[0].difference.best), level_text(outcome.level));
  }
  return fmt::format("{}, from {}.{}", text, spent_text(outcome), worth_text(outcome));
}

std::vector<std::string> cautions(const EvaluationOutcome& outcome) {
  std::vector<std::string> out;
  for (const PolicyResult& p : outcome.policies)
    if (!p.value.caution.empty())
      out.push_back(outcome.policies.size() == 1
                        ? p.value.caution
                        : fmt::format("'{}': {}", p.name, p.value.caution));
  if (outcome.until > 0 && !outcome.stages.empty() &&
      outcome.stages.back().half_width > outcome.until)
    out.push_back(fmt::format(
        "the budget was spent before the interval was as narrow as {:.4g} on either side",
        outcome.until));
  return out;
}

std::vector<Table> evaluation_tables(const EvaluationOutcome& outcome) {
  std::vector<Table> out;
  const auto add = [&](Table table) {
    if (!table.empty()) out.push_back(std::move(table));
  };
  add(values_table(outcome));
  add(differences_table(outcome));
  add(simulators_table(outcome));
  add(correlations_table(outcome));
  add(stages_table(outcome));
  return out;
}

std::vector<std::string> cheap_verdicts(const EvaluationOutcome& outcome) {
  std::vector<std::string> out;
  for (const SimulatorUse& s : outcome.simulators)
    if (s.verdict)
      out.push_back(fmt::format("{}: {}{}", s.name,
                                s.verdict->reason.starts_with("not tried") ? ""
                                : s.verdict->used                          ? "used: "
                                                                           : "not used: ",
                                s.verdict->reason));
  return out;
}

std::string evaluation_text(const EvaluationOutcome& outcome) {
  std::string out = fmt::format("{}: {}\n", outcome.name, headline(outcome));
  for (const std::string& caution : cautions(outcome))
    out += fmt::format("  caution: {}\n", caution);
  for (const std::string& note : outcome.notes) out += fmt::format("  note: {}\n", note);
  for (const Table& table : evaluation_tables(outcome))
    out += fmt::format("\n{}", format_table(table.rows));
  for (const std::string& verdict : cheap_verdicts(outcome)) out += fmt::format("{}\n", verdict);
  return out;
}

}  // namespace hilo
