#pragma once

#include <string>
#include <vector>

#include "hilo/report/results.hpp"

namespace hilo {

// One metric of a chart that has results.
struct ChartMetric {
  std::string metric, name, axis;
  std::string level_metric;  // whose mean is drawn as a line; "" for none
  std::string level_name;
  std::string x_metric = {};  // what it is drawn over, if not episodes: its mean over seeds
  std::string x_axis = {};
};

// A chart of the page: one metric of several at a time, over episodes.
struct ChartSpec {
  std::string title, note;
  bool small = false;
  bool learning = true;  // about learning, not about the low fidelity
  std::vector<ChartMetric> metrics;
};

// The charts that the results can fill. Without learning curves where another experiment shows
// them.
std::vector<ChartSpec> charts_of(const Results& results, bool with_learning);

// What the page's script draws of an experiment, as JSON that may stand in HTML.
std::string chart_data(const Results& results, const std::vector<ChartSpec>& charts);

}  // namespace hilo
