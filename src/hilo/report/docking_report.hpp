#pragma once

#include "hilo/report/problem_view.hpp"

namespace hilo {

// Docking: why agents end where they do, with what was measured; and the greedy policies of the
// first seed as inline SVG, one map each and the optimum beside them: what they are worth from
// every cell at rest, exactly, and the likeliest course from one of them. No maps for those too
// large to draw.
ProblemView docking_view();

}  // namespace hilo
