#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hilo/report/analysis.hpp"
#include "hilo/report/published.hpp"
#include "hilo/report/table.hpp"

namespace hilo {

// The variance ratios of an agent over the last 1000 episodes of its runs, and the published ones.
struct RatioBox {
  std::string agent;
  std::size_t seeds = 0;
  Box box;
  std::optional<PublishedPoint> published;
};

// For the agents that make corrections.
std::vector<RatioBox> ratio_boxes(const Results& results);

// The tables of a report, in the order in which it shows them.
Table outcome_table(const Analysis& analysis);
Table needed_table(const Analysis& analysis);
Table saving_table(const Analysis& analysis);
Table published_table(const std::vector<Comparison>& comparisons);
Table robust_table(const Analysis& analysis);
Table ratio_table(const std::vector<RatioBox>& boxes);
Table bias_table(const Results& results);
Table problem_table(const Results& results);
Table cost_table(const Results& results);

// Above or below the baseline if the 95 % interval of the difference excludes 0, otherwise unclear.
enum class Side : std::uint8_t { above, below, unclear };
Side side_of(const Summary& difference);

// "2.30× [1.93, ≥ 2.55]".
std::string show_saving(const Need& need);

// The name of the metric of the final level.
const char* level_name(const Analysis& analysis);

}  // namespace hilo
