#pragma once

#include <vector>

#include "hilo/agent/registry.hpp"

// For the registry's own sources: the kinds of agents, by family.
namespace hilo {

std::vector<AgentKind> monte_carlo_kinds();          // mcrl, mfmcrl
std::vector<AgentKind> temporal_difference_kinds();  // q-learning, ..., low-only
std::vector<AgentKind> model_based_kinds();          // bayes, mfrl and what they are without a
                                                     // low fidelity

}  // namespace hilo
