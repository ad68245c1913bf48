#pragma once

#include <string>
#include <vector>

#include "hilo/report/published.hpp"
#include "hilo/report/results.hpp"

namespace hilo {

// Columns of text, padded to their widths; the first is aligned to the left, the others to the
// right.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

// Mean ± standard error of a metric for every agent at some episodes.
std::string learning_table(const Results& results, const std::string& metric);

// Every agent minus the baseline, paired by seed, with 95 % intervals, at the last episode.
std::string difference_table(const Results& results, const std::string& baseline,
                             const std::string& metric);

// Ours, published, difference in standard errors, verdict.
std::string comparison_table(const std::vector<Comparison>& comparisons);

// Up to five episodes worth a column: 0, 10 %, 20 %, 50 % and 100 % of what was tested.
std::vector<std::uint64_t> checkpoints(const Results& results, const std::string& metric);

}  // namespace hilo
