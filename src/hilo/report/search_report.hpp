#pragma once

#include "hilo/report/problem_view.hpp"

namespace hilo {

// The view of architecture search: what it cost and found, compared with searches without learning,
// and the best architecture that any run trained in the high fidelity, with its cell as inline SVG.
ProblemView search_view();

}  // namespace hilo
