#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hilo/driver/evaluation_run.hpp"
#include "hilo/env/vector_simulator.hpp"

// For the sources of this folder only: the simulators of an evaluation, and each policy as it acts
// in each of them.
namespace hilo {

struct EvaluationSide {
  std::shared_ptr<const VectorSimulator> simulator;
  std::string name;
  bool starts_anywhere = false;
  std::uint64_t retries = 0;                            // of a cheap episode
  std::vector<std::shared_ptr<const Policy>> policies;  // in the order of the evaluation
};

struct EvaluationSides {
  std::vector<EvaluationSide> simulators;  // the expensive one first
  std::vector<std::string> policy_identities;
  std::string no_coupling;  // why the same random numbers do not make returns alike; mostly empty
};

// Starts programs and builds tables. Throws Errc::usage if a policy does not fit.
EvaluationSides make_sides(const EvaluateSpec& spec, const std::vector<NamedPolicy>& policies);

}  // namespace hilo
