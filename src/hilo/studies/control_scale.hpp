#pragma once

#include <memory>
#include <string>

#include "hilo/env/vector_simulator.hpp"

namespace hilo {

// How good a policy of a control problem is: 0 is the value of zero action, 1 that of the best of
// ten policy searches in the expensive simulator itself, with as many episodes as they want.
struct ControlScale {
  double zero = 0, best = 1;

  double score(double value) const { return (value - zero) / (best - zero); }
};

// The mean return of a policy over 200 start states, which are the same for all policies.
double control_value(const VectorSimulator& high, const Policy& policy);

// Of a kind of problem with its usual parameters. Searches for it, which takes minutes, the first
// time that it is asked for.
const ControlScale& control_scale(const std::string& kind);

}  // namespace hilo
