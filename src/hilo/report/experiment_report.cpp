#include "hilo/report/experiment_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "hilo/env/catalogue.hpp"
#include "hilo/report/findings.hpp"
#include "hilo/report/problem_view.hpp"
#include "hilo/report/shipped.hpp"
#include "hilo/report/values_report.hpp"
#include "hilo/report/variants.hpp"

namespace hilo {
namespace {

std::string setting_of(const std::vector<AgentStatus>& agents, const Provenance& provenance,
                       bool has_vectors) {
  if (agents.empty()) return "";
  const Configuration& configuration = agents[0].configuration;
  const auto value = [&](const char* key) { return configuration.value(key); };
  std::string text = value("problem.kind");
  for (const auto& [key, unit] :
       {std::pair("problem.states", "states"), std::pair("problem.actions", "actions")})
    if (!value(key).empty()) text += fmt::format(", {} {}", value(key), unit);
  const bool in_steps = value("train.episodes") == "0";
  text += in_steps ? fmt::format("; {} high-fidelity steps",
                                 group_digits(configuration.number("train.steps")))
                   : fmt::format("; {} high-fidelity episodes",
                                 group_digits(configuration.number("train.episodes")));
  const std::string kind = value("problem.kind");
  const bool new_problems = value("problem.content").empty() && is_registered(kind) &&
                            !problem_kind(kind).same_for_all_seeds;
  text += fmt::format(", γ = {}", value("train.gamma"));
  if (!has_vectors) text += fmt::format(", ε = {}", value("train.epsilon"));
  text += fmt::format("; seeds {} to {}{}", provenance.first_seed, provenance.last_seed,
                      new_problems ? ", a new problem for each" : "");
  if (value("test.episodes") == "0")
    return text + "; no tests, rewards are those of training episodes";
  return text + fmt::format("; a test of {} episodes every {}", value("test.episodes"),
                            value("test.every"));
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

}  // namespace

SharedRuns::SharedRuns(const Store& store, std::vector<std::string> experiments)
    : experiments_(std::move(experiments)) {
  for (const std::string& experiment : experiments_) {
    const auto& runs = runs_[experiment] = store.runs_of(experiment);
    if (!runs.empty()) holders_[*runs.begin()];
  }
  for (std::size_t i = 0; i < experiments_.size(); ++i)
    for (const RunKey& run : runs_[experiments_[i]])
      if (const auto found = holders_.find(run); found != holders_.end())
        found->second.push_back(i);
}

std::string SharedRuns::whole_of(const std::string& experiment) const {
  const auto ours = runs_.find(experiment);
  if (ours == runs_.end() || ours->second.empty()) return "";
  for (const std::size_t i : holders_.at(*ours->second.begin())) {
    const std::set<RunKey>& theirs = runs_.at(experiments_[i]);
    if (theirs.size() > ours->second.size() && std::ranges::includes(theirs, ours->second))
      return experiments_[i];
  }
  return "";
}

ExperimentReport make_experiment_report(const Store& store, const Results& results,
                                        const SharedRuns& shown) {
  ExperimentReport report;
  report.name = results.experiment();
  report.stand_in = results.is_stand_in();
  report.data_note = data_note(results);
  report.title = title_of(report.name);
  const auto status = store.agent_status(report.name);
  report.provenance = store.provenance(report.name);
  report.setting = setting_of(status, report.provenance, results.has_vectors());
  report.same_runs_as = shown.whole_of(report.name);
  report.missing = missing_runs(status);
  report.analysis = analyse(results);
  report.comparisons = compare_with_published(results);
  report.boxes = ratio_boxes(results);
  if (report.same_runs_as.empty()) report.variants = explain_variants(results, report.analysis);
  const ProblemView& view = problem_view(results.problem_kind());
  if (view.explanation) report.explanation = view.explanation(results, report.analysis);
  if (report.same_runs_as.empty()) report.sureness = sureness_table(store, results);
  report.findings = find_all(report);
  for (std::string& sentence : find_cut_episodes(results))
    report.findings.push_back(std::move(sentence));

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
  report.bias = bias_table(results);
  report.problem = problem_table(results);
  report.comparison = published_table(report.comparisons);
  if (view.table) report.of_problem = view.table(results);
  if (view.sentence) report.best_of_problem = view.sentence(results);
  if (report.stand_in)
    for (Table* table :
         {&report.outcome, &report.robust, &report.needed, &report.saving, &report.ratios,
          &report.bias, &report.problem, &report.cost, &report.of_problem, &report.sureness})
      table->title += " (stand-in data)";
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
