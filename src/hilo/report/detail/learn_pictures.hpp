#pragma once

#include <string>
#include <vector>

#include "hilo/driver/learner.hpp"

// For the sources of this folder only: the pictures of a learn run's page, as inline SVG.
namespace hilo {

// Returns against cost, with the tested value and what it is to be compared with.
std::string returns_picture(const Learner& learner, const LearnOutcome& outcome,
                            const LearnReference& reference);

// How the numbers that an agent found out about the simulators changed: a small picture for each.
std::string findings_picture(const std::vector<Measurement>& findings);

}  // namespace hilo
