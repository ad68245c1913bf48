#pragma once

#include <string>

#include "hilo/env/catalogue.hpp"
#include "hilo/env/tabular_mdp.hpp"

// For the sources of this folder only: what problems have in common that are made of tables.
namespace hilo {

// The table behind a simulator that was made from one.
const TabularMdp& table_of(const EpisodeSimulator& simulator);

// How successors are drawn, and why common random numbers may not be had.
ParameterInfo sampling_parameter();
std::string lacks_common_random_numbers(std::string_view feature, const Parameters& p);

}  // namespace hilo
