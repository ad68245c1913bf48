#pragma once

#include <string>

#include "hilo/driver/learner.hpp"

namespace hilo {

// The page of a learn run as one self-contained HTML file without scripts: what the money bought
// (returns against cost, the tested value with its interval, and what it is to be compared with),
// the bill, what the agent found out about the cheap simulator, and the policy of a small problem.
// Of a problem whose states are vectors: its final episode, the policy over two coordinates, and
// how well the cheap simulator's errors are predicted. The run must be done.
std::string make_learn_page(const Learner& learner, const std::string& command);

}  // namespace hilo
