#include "hilo/agent/detail/network_parameters.hpp"

namespace hilo {

std::vector<ParameterInfo> network_parameters() {
  return {{.name = "layers",
           .description = "hidden layers of the policy's network; 0: a linear policy",
           .default_value = std::int64_t{1},
           .low = 0,
           .high = 2},
          {.name = "units",
           .description = "of each hidden layer",
           .default_value = std::int64_t{10},
           .low = 1,
           .high = 256}};
}

std::vector<std::size_t> network_layers(const Parameters& p) {
  return std::vector<std::size_t>(static_cast<std::size_t>(p.integer("layers")),
                                  static_cast<std::size_t>(p.integer("units")));
}

}  // namespace hilo
