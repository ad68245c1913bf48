#pragma once

#include "hilo/report/problem_view.hpp"

namespace hilo {

// The view of docking. It explains from measurements why agents reach their final levels, and draws
// the optimal policy and the agents' greedy policies of the first seed as maps (inline SVG): the
// exact value from every cell at rest, and the likeliest course from one of them. Problems that are
// too large have no maps.
ProblemView docking_view();

}  // namespace hilo
