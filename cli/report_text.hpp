#pragma once

#include <string>

#include "hilo/report/results.hpp"

namespace hilo::cli {

// The agent that others are compared with: MCRL where there is one, else the first.
inline std::string baseline_of(const Results& results) {
  for (const std::string& agent : results.agents())
    if (agent == "MCRL") return agent;
  return results.agents().empty() ? "" : results.agents()[0];
}

}  // namespace hilo::cli
