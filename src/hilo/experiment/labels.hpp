#pragma once

#include <string>
#include <vector>

#include "hilo/experiment/spec.hpp"

namespace hilo {

// Gives every configuration without a label one: its kind, and what tells it from its siblings, as
// in "MFMCRL m=10 -3 dB as-written". Throws if two end up with the same.
void assign_labels(std::vector<RunConfig>& configs, const std::string& where);

// The variant that the configuration's keys spell, or "".
std::string variant_of(const RunConfig& config);

}  // namespace hilo
