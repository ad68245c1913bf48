#pragma once

#include <string>

#include "hilo/env/catalogue.hpp"
#include "hilo/env/tabular_mdp.hpp"

// For the sources of this folder only: what problems made of tables have in common.
namespace hilo {

// The table behind a simulator that was made from one.
const TabularMdp& table_of(const EpisodeSimulator& simulator);

// The parameter for how successors are drawn, and ProblemKind::lacks for problems that have it.
ParameterInfo sampling_parameter();
std::string lacks_common_random_numbers(std::string_view feature, const Parameters& p);

}  // namespace hilo
