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

// Everything there is to say about one experiment, in words and tables; charts are drawn from the
// results themselves.
struct ExperimentReport {
  std::string name;
  bool stand_in = false;              // made-up data, to be said wherever it is shown
  std::string data_note;              // what must be known about its data
  std::string title;                  // what it shows, from the spec
  std::string setting;                // problem, budget and seeds in one line
  std::string same_runs_as;           // another experiment of the report that shows these runs
  std::vector<std::string> missing;   // what is planned but not there
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
  Table ratios;      // the numbers of the boxes
  Table bias;        // exact bias of the estimator
  Table problem;     // the problem's own figures
  Table cost;        // steps and seconds
  Table comparison;  // with the paper
  Table of_problem;  // what people of its field want to know
  Table sureness;    // how sure agents are of their greedy actions

  std::vector<std::string> explanation;  // why agents end where they do on this problem
  std::string best_of_problem;           // a sentence for Markdown, already escaped
};

// Which experiments are part of which others. Made once for a report, as it reads the runs of all.
class SharedRuns {
 public:
  SharedRuns(const Store& store, std::vector<std::string> experiments);

  // The first that has all runs of this one and more; "" if none has.
  std::string whole_of(const std::string& experiment) const;

 private:
  std::vector<std::string> experiments_;
  std::map<std::string, std::set<RunKey>> runs_;
  // For the first run of every experiment those that have it: others cannot be the whole of it.
  std::map<RunKey, std::vector<std::size_t>> holders_;
};

// `shown` are all experiments of the report that it stands in.
ExperimentReport make_experiment_report(const Store& store, const Results& results,
                                        const SharedRuns& shown);

// What else belongs to studies of which the store holds a part: one sentence each.
std::vector<std::string> missing_of_studies(const std::vector<std::string>& experiments);

}  // namespace hilo
