#pragma once

#include <vector>

#include "hilo/core/parameters.hpp"

namespace hilo {

// The parameters of agents whose policy is a network: `layers` and `units`.
std::vector<ParameterInfo> network_parameters();
std::vector<std::size_t> network_layers(const Parameters& p);

}  // namespace hilo
