#pragma once

#include <string>
#include <vector>

#include "hilo/report/results.hpp"

namespace hilo {

// Where the value before the first episode stands on a logarithmic axis of episodes, which has no
// place for 0. It is labelled as what it is.
inline constexpr double kBeforeFirst = 0.5;

// One metric of a chart.
struct ChartMetric {
  std::string metric, name, axis;
  std::string level_metric;  // its mean over seeds is drawn as a level line; "" for none
  std::string level_name;
  std::string x_metric = {};  // the x axis if not episodes: its mean over seeds
  std::string x_axis = {};
};

// A chart of the page. It shows one of its metrics at a time.
struct ChartSpec {
  std::string title, note;
  bool small = false;
  bool learning = true;  // about learning, not about the low fidelity
  std::vector<ChartMetric> metrics;
};

// The charts for which there are results. `with_learning` is false if another experiment of the
// report shows the charts about learning.
std::vector<ChartSpec> charts_of(const Results& results, bool with_learning);

// The data of the charts for the page's script, as JSON that can be embedded in HTML.
std::string chart_data(const Results& results, const std::vector<ChartSpec>& charts);

}  // namespace hilo
