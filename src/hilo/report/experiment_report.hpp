#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hilo/report/analysis.hpp"
#include "hilo/report/published.hpp"
#include "hilo/report/tables.hpp"
#include "hilo/store/store.hpp"

namespace hilo {

// The report on one experiment in sentences and tables. Charts are drawn from the results.
struct ExperimentReport {
  std::string name;
  bool stand_in = false;              // made-up data; must be stated wherever results are shown
  std::string data_note;              // what readers must know about its data
  std::string title;                  // what it shows, from the spec
  std::string setting;                // problem, budget and seeds in one line
  std::string same_runs_as;           // SharedRuns::whole_of
  std::vector<std::string> missing;   // planned runs that are not finished, by agent
  std::vector<std::string> findings;  // sentences, most important first
  std::vector<std::string> variants;  // as-written against as-published; empty without both
  Analysis analysis;
  std::vector<Comparison> comparisons;
  std::vector<RatioBox> boxes;
  Provenance provenance;

  Table outcome;     // final level, share of the optimum, difference to the baseline
  Table robust;      // interquartile mean, probability of improvement, area under the curve
  Table needed;      // episodes needed
  Table saving;      // against the baseline
  Table ratios;      // the numbers behind the boxes
  Table bias;        // exact bias of the estimator
  Table problem;     // properties of the problem
  Table cost;        // steps and seconds
  Table comparison;  // with the paper
  Table of_problem;  // ProblemView::table
  Table sureness;    // how sure agents are of their greedy actions

  std::vector<std::string> explanation;  // why agents reach their final levels
  std::string best_of_problem;           // a sentence for Markdown, already escaped
};

// Which experiments are part of which others. Made once for a report, because it reads the runs of
// all experiments.
class SharedRuns {
 public:
  SharedRuns(const Store& store, std::vector<std::string> experiments);

  // The first experiment that has all runs of this one and more; "" if there is none.
  std::string whole_of(const std::string& experiment) const;

 private:
  std::vector<std::string> experiments_;
  std::map<std::string, std::set<RunKey>> runs_;
  // For the first run of every experiment, the experiments that contain it. No other experiment can
  // contain all runs of that experiment.
  std::map<RunKey, std::vector<std::size_t>> holders_;
};

// `shown` holds all experiments of the report that this one is part of.
ExperimentReport make_experiment_report(const Store& store, const Results& results,
                                        const SharedRuns& shown);

// One sentence for each shipped study of which only a part is among the experiments.
std::vector<std::string> missing_of_studies(const std::vector<std::string>& experiments);

}  // namespace hilo
