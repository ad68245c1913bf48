#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hilo/env/fidelities.hpp"

namespace hilo::testing {

// A kind of pairs of simulators, one pair for each seed.
struct PairKind {
  std::string name;
  std::function<Fidelities(std::uint64_t seed)> make;
};

// Kinds that `diagnose` was not developed on: small processes with wrong rates, aggregated states,
// odd rewards, correlations of both signs, hardly any pairs.
std::vector<PairKind> unseen_pair_kinds();

}  // namespace hilo::testing
