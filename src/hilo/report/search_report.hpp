#pragma once

#include "hilo/report/problem_view.hpp"

namespace hilo {

// Architecture search: what it cost and found, beside searches without learning, and the best
// architecture that any run trained in the high fidelity, with its cell as inline SVG.
ProblemView search_view();

}  // namespace hilo
