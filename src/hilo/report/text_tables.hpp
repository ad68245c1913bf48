#pragma once

#include <string>
#include <vector>

#include "hilo/report/published.hpp"
#include "hilo/report/results.hpp"

namespace hilo {

// Columns of text, padded to their widths; the first is aligned to the left, the others to the
// right.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

// Mean ± standard error of a metric for every agent at some episodes, and at the end where runs end
// at different ones.
std::string learning_table(const Results& results, const std::string& metric);

// Every agent minus the baseline, paired by seed, with 95 % intervals, at the end.
std::string difference_table(const Results& results, const std::string& baseline,
                             const std::string& metric);

// Whether runs of an agent end at different episodes, as with a budget in steps.
bool ends_differ(const Results& results, const std::string& metric);

// The cells of a comparison, for tables of any kind.
std::string show_ours(const Comparison& comparison);
std::string show_published(const PublishedPoint& point);
std::string show_difference(const Comparison& comparison);
std::string show_verdict(const Comparison& comparison);

// Ours, published, difference in standard errors, verdict.
std::string comparison_table(const std::vector<Comparison>& comparisons);

// Up to five episodes worth a column: 0, 10 %, 20 %, 50 % and 100 % of what every run tested.
std::vector<std::uint64_t> checkpoints(const Results& results, const std::string& metric);

}  // namespace hilo
