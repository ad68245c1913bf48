#pragma once

#include <optional>
#include <string>

#include "hilo/env/nas/space.hpp"
#include "hilo/report/results.hpp"
#include "hilo/report/table.hpp"

namespace hilo {

// The best architecture that any run of an experiment trained in the high fidelity.
struct BestArchitecture {
  Architecture architecture = 0;
  double accuracy = 0;
  std::uint64_t rank = 0;  // among all, 1 is best
  std::string agent;
  std::uint64_t seed = 0;
};
std::optional<BestArchitecture> best_architecture(const Results& results);

// What architecture search cost and found, beside searches without learning; empty for other
// problems.
Table search_table(const Results& results);

// The cell as inline SVG: four nodes, and every edge with its operation.
std::string cell_picture(Architecture architecture);

}  // namespace hilo
