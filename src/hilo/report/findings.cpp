#include "hilo/report/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace hilo {
namespace {

constexpr std::size_t kFewSeeds = 10;

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
  std::string text = fmt::format("Of {} agents, {} has the highest mean at the end: {} {:.3f}",
                                 analysis.agents.size(), best->agent, level_name(analysis), s.mean);
  if (s.n >= 2) text += fmt::format(" [{:.3f}, {:.3f}] over {} seeds", s.low, s.high, s.n);
  if (best->share)
    text += fmt::format(", {:.0f} % of the exact optimal value", 100 * best->share->mean);
  out.push_back(text + ".");
}

void find_sides(const Analysis& analysis, std::vector<std::string>& out) {
  const auto [above, below, unclear] = sides_of(analysis);
  if (above.empty() && below.empty() && unclear.empty()) return;
  out.push_back(fmt::format(
      "Against {}, paired by seed, with a 95 % interval clear of 0: above: {}; below: {}; cannot "
      "be told: {}.",
      analysis.baseline, joined(above), joined(below), joined(unclear)));
}

void find_saving(const Analysis& analysis, std::vector<std::string>& out) {
  const AgentAnalysis* best = largest_saving(analysis);
  if (best == nullptr) return;
  const Need& need = best->needs.back();
  out.push_back(fmt::format(
      "{} reaches {}'s final level first, after {} of {} episodes: {}, the largest saving of {}.",
      best->agent, analysis.baseline, group_digits(std::round(need.episodes.value)),
      group_digits(static_cast<double>(analysis.last_episode)), show_saving(need),
      analysis.agents.size() - 1));
}

}  // namespace

Sides sides_of(const Analysis& analysis) {
  Sides sides;
  for (const AgentAnalysis& a : analysis.agents)
    if (a.advantage && a.advantage->n >= 2) switch (side_of(*a.advantage)) {
        case Side::above:
          sides.above.push_back(a.agent);
          break;
        case Side::below:
          sides.below.push_back(a.agent);
          break;
        case Side::unclear:
          sides.unclear.push_back(a.agent);
      }
  return sides;
}

const AgentAnalysis* largest_saving(const Analysis& analysis) {
  const AgentAnalysis* best = nullptr;
  for (const AgentAnalysis& a : analysis.agents) {
    if (a.agent == analysis.baseline || a.needs.empty()) continue;
    const Saving& saving = a.needs.back().saving;
    if (saving.bound != Saving::Bound::exact || saving.value <= 1) continue;
    if (best == nullptr || saving.value > best->needs.back().saving.value) best = &a;
  }
  return best;
}

std::string count_agreement(const std::vector<Comparison>& comparisons) {
  const auto count = [&](Verdict verdict) {
    return static_cast<std::size_t>(std::ranges::count(comparisons, verdict, &Comparison::verdict));
  };
  const std::size_t open = count(Verdict::too_few_seeds);
  if (open == comparisons.size()) return "too few seeds for a comparison with the paper";
  std::string text = fmt::format("{} of {} published values agree", count(Verdict::agrees),
                                 comparisons.size() - open);
  if (open > 0) text += fmt::format(", {} could not be compared", open);
  return text;
}

std::string data_note(const Results& results) {
  if (results.is_stand_in())
    return "All of this is made from stand-in accuracies, a formula in the shape of NAS-Bench-201 "
           "that says nothing about neural networks; with the real table (hilo reproduce ... "
           "--table FILE) it would be compared with the paper.";
  const auto correlation = mean_of_problem(results, "problem_accuracy_correlation");
  if (!correlation) return "";
  std::string high;
  std::string low;
  for (const std::string& agent : results.agents())
    if (const std::string column = canonical_value(results.canonical_of(agent), "problem.low");
        !column.empty()) {
      low = column;
      high = canonical_value(results.canonical_of(agent), "problem.high");
    }
  return fmt::format(
      "Accuracies: high fidelity {}, low fidelity {}, with a correlation of {:.3f} over all "
      "architectures. The paper's low fidelity was the accuracy at epoch 10 of the 200-epoch "
      "training; a training of its own over 12 epochs is a different one that ranks architectures "
      "better, so results with it may differ from the published ones.",
      high, low, *correlation);
}

std::vector<std::string> find_all(const ExperimentReport& report) {
  std::vector<std::string> out;
  if (!report.data_note.empty()) out.push_back(report.data_note);
  if (report.same_runs_as.empty()) {
    find_best(report.analysis, out);
    find_sides(report.analysis, out);
    find_saving(report.analysis, out);
  } else {
    out.push_back(fmt::format("These runs are part of {}, where their learning curves are.",
                              report.same_runs_as));
  }
  if (!report.comparisons.empty())
    out.push_back("Against the paper: " + count_agreement(report.comparisons) + ".");
  const std::size_t seeds = report.analysis.seeds.size();
  if (!report.analysis.agents.empty() && seeds < kFewSeeds)
    out.push_back(
        fmt::format("All agents have {} seeds in common: too few for intervals to be "
                    "trusted.",
                    seeds));
  return out;
}

}  // namespace hilo
