#pragma once

#include <string>
#include <vector>

#include "hilo/report/published.hpp"
#include "hilo/report/results.hpp"

namespace hilo {

// Rows as text with padded columns. The first column is aligned to the left, the others to the
// right.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

// Mean ± standard error of a metric for every agent at the checkpoints, and at the end if runs end
// at different episodes.
std::string learning_table(const Results& results, const std::string& metric);

// The difference between every agent and the baseline at the end, paired by seed, with 95 %
// intervals.
std::string difference_table(const Results& results, const std::string& baseline,
                             const std::string& metric);

// Whether runs of an agent end at different episodes, as with a budget in steps.
bool ends_differ(const Results& results, const std::string& metric);

// The cells of a comparison.
std::string show_ours(const Comparison& comparison);
std::string show_published(const PublishedPoint& point);
std::string show_difference(const Comparison& comparison);
std::string show_verdict(const Comparison& comparison);

// Columns: our value, the published value, the difference in standard errors, the verdict.
std::string comparison_table(const std::vector<Comparison>& comparisons);

// Up to five episodes for the columns of a table: the last test, and the first tests at or after
// 0, 10 %, 20 % and 50 % of it. Only tests that all seeds of an agent have are considered.
std::vector<std::uint64_t> checkpoints(const Results& results, const std::string& metric);

}  // namespace hilo
