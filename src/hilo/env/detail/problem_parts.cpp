#include "hilo/env/detail/problem_parts.hpp"

namespace hilo {

const TabularMdp& table_of(const EpisodeSimulator& simulator) {
  return dynamic_cast<const TabularMdp&>(*simulator.model());
}

ParameterInfo sampling_parameter() {
  return {.name = "sampling",
          .description =
              "how successors are drawn; coupling by common random numbers needs "
              "inverse-cdf",
          .default_value = "alias",
          .choices = {"alias", "inverse-cdf"},
          .silent_default = true};
}

// Common random numbers couple two tables only if both draw successors in the order of states.
std::string lacks_common_random_numbers(std::string_view feature, const Parameters& p) {
  const bool lacks = feature == kCommonRandomNumbers && p.text("sampling") != "inverse-cdf";
  return lacks ? "needs sampling = \"inverse-cdf\" in [problem]" : "";
}

}  // namespace hilo
