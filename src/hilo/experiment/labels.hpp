#pragma once

#include <string>
#include <vector>

#include "hilo/experiment/spec.hpp"

namespace hilo {

// Gives every configuration without a label one: its kind, and the values that distinguish it from
// the others, as in "MFMCRL m=10 -3 dB as-written". Throws if two get the same label.
void assign_labels(std::vector<RunConfig>& configs, const std::string& where);

// The variant whose values the configuration has, or "".
std::string variant_of(const RunConfig& config);

}  // namespace hilo
