#include "hilo/report/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace hilo {
namespace {

constexpr std::size_t kFewSeeds = 10;

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

void find_best(const Analysis& analysis, std::vector<std::string>& out) {
  const auto best = std::ranges::max_element(analysis.agents, {},
                                             [](const AgentAnalysis& a) { return a.level.mean; });
  if (best == analysis.agents.end()) return;
  const Summary& s = best->level;
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

// The agents that need no expensive episode, and the one with the largest saving among the others.
void find_saving(const Analysis& analysis, std::vector<std::string>& out) {
  std::vector<std::string> at_once;
  for (const AgentAnalysis& a : analysis.agents)
    if (!a.needs.empty() && a.needs.back().episodes.value == 0) at_once.push_back(a.agent);
  if (!at_once.empty())
    out.push_back(
        fmt::format("At {}'s final level from the start: {}.", analysis.baseline, joined(at_once)));
  const AgentAnalysis* best = largest_saving(analysis);
  if (best == nullptr) return;
  const Need& need = best->needs.back();
  out.push_back(fmt::format(
      "{}{} reaches {}'s final level first, after {} of {} episodes: {}, the largest saving of {}.",
      at_once.empty() ? "" : "Of the others, ", best->agent, analysis.baseline,
      group_digits(std::round(need.episodes.value)),
      group_digits(static_cast<double>(analysis.last_episode)), show_saving(need),
      analysis.agents.size() - 1 - at_once.size()));
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
    if (saving.bound != Saving::Bound::exact || saving.value <= 1 ||
        !a.needs.back().saving_interval || analysis.seeds.size() < 2)
      continue;
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

// Episodes of vectors mostly have a fixed length, which needs no mention.
std::vector<std::string> find_cut_episodes(const Results& results) {
  std::vector<std::string> out;
  if (results.has_vectors()) return out;
  for (const std::string& agent : results.agents()) {
    const BySeed& cut = results.final_of(agent, "truncated_high");
    if (cut.empty()) continue;
    const auto over_all_seeds = [&](const BySeed& values) {
      double sum = 0;
      for (const double value : values_of(values)) sum += value;
      return sum / static_cast<double>(results.num_seeds(agent));
    };
    const double dropped = over_all_seeds(results.final_of(agent, "dropped"));
    const std::string fate =
        dropped > 0 ? "and taught it nothing (truncation = \"drop\")"
                    : (results.configuration_of(agent).value("train.truncation") == "terminal"
                           ? "and count as ended there (truncation = \"terminal\")"
                           : "and it learnt from their single steps");
    out.push_back(
        fmt::format("{}: {:.4g} expensive episodes a run were cut before their end, in "
                    "{} of {} seeds, {}.",
                    agent, over_all_seeds(cut), cut.size(), results.num_seeds(agent), fate));
  }
  return out;
}

std::string data_note(const Results& results) {
  if (results.is_stand_in())
    return fmt::format(
        "All of this is made from stand-in accuracies, a formula in the shape of NAS-Bench-201 "
        "that "
        "says nothing about neural networks{}.",
        published_points(results.experiment()).empty()
            ? ""
            : "; with the real table (hilo reproduce ... --table FILE) it is compared with the "
              "paper");
  std::set<std::string> said;
  std::string text;
  for (const std::string& agent : results.agents()) {
    const Configuration& configuration = results.configuration_of(agent);
    const std::string low = configuration.value("problem.low");
    if (configuration.value("problem.kind") != "nas-bench-201" || low.empty()) continue;
    const auto correlation = values_of(results.final_of(agent, "problem_accuracy_correlation"));
    std::string clause =
        fmt::format("High fidelity {}, low fidelity {}", configuration.value("problem.high"), low);
    if (!correlation.empty())
      clause +=
          fmt::format(", with a correlation of {:.3f} over all architectures", correlation.front());
    if (said.insert(clause).second) text += clause + ". ";
    if (low.ends_with("_valid12") && said.insert("12").second)
      text +=
          "That is a training of its own over 12 epochs, not the paper's epoch 10 of the 200-epoch "
          "training, which is not in the table: another low fidelity, and on a sample of CIFAR-10 "
          "a better correlated one. ";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::vector<std::string> find_all(const ExperimentReport& report) {
  std::vector<std::string> out;
  if (!report.data_note.empty()) out.push_back(report.data_note);
  if (report.same_runs_as.empty()) {
    find_best(report.analysis, out);
    if (report.analysis.level_metric.starts_with("train_") && !report.analysis.agents.empty())
      out.emplace_back(
          "Nothing was tested: these levels are of training episodes, exploration included, and do "
          "not say which greedy policy is best.");
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
