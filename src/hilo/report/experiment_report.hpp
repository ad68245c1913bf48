#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hilo/report/analysis.hpp"
#include "hilo/report/published.hpp"
#include "hilo/store/store.hpp"

namespace hilo {

// A table for people, on a page, in Markdown or as text.
struct Table {
  std::string title;
  std::vector<std::vector<std::string>> rows;  // the first is the header
  std::string note;                            // how to read it

  bool empty() const { return rows.size() < 2; }
};

// The variance ratios of an agent at the end of its runs, beside the published ones.
struct RatioBox {
  std::string agent;
  std::size_t seeds = 0;
  Box box;
  std::optional<PublishedPoint> published;
};

// Everything there is to say about one experiment, in words and tables; charts are drawn from the
// results themselves.
struct ExperimentReport {
  std::string name;
  std::string title;                  // what it shows, from the spec
  std::string setting;                // problem, budget and seeds in one line
  std::string same_runs_as;           // another experiment of the store that shows these runs whole
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
};

ExperimentReport make_experiment_report(const Store& store, const Results& results);

// Of the agents that make corrections.
std::vector<RatioBox> ratio_boxes(const Results& results);

// Another experiment of the store that refers to all runs of this one and to more; "" if none does.
std::string same_runs_as(const Store& store, const Results& results);

// What else belongs to studies of which the store holds a part: one sentence each.
std::vector<std::string> missing_of_studies(const std::vector<std::string>& experiments);

// "1 234 567".
std::string group_digits(double value);

}  // namespace hilo
