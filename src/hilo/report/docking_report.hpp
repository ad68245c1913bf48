#pragma once

#include <string>
#include <vector>

#include "hilo/report/analysis.hpp"
#include "hilo/store/store.hpp"

namespace hilo {

bool is_docking(const Results& results);

// Why agents end where they do in docking, with what was measured; empty for other problems.
std::vector<std::string> explain_docking(const Results& results, const Analysis& analysis);

// The greedy policies of the first seed as inline SVG, one map each and the optimum beside them:
// what they are worth from every cell at rest, exactly, and the likeliest course from one of them.
// "" for other problems, and for those too large to draw.
std::string docking_maps(const Store& store, const Results& results);

}  // namespace hilo
