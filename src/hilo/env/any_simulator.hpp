#pragma once

#include <utility>

#include "hilo/env/space.hpp"

namespace hilo {

// What all simulators have in common: an observation space and an action space. Two separate
// domains derive from it, so that neither pays for the other: tables, whose observations are states
// 0 to n - 1 and whose actions are few (simulator.hpp), and vectors, whose observations and actions
// are points of any space (vector_simulator.hpp).
class AnySimulator {
 public:
  AnySimulator(const AnySimulator&) = delete;
  AnySimulator& operator=(const AnySimulator&) = delete;
  virtual ~AnySimulator() = default;

  const Space& observation_space() const { return observations_; }
  const Space& action_space() const { return actions_; }

 protected:
  AnySimulator(Space observations, Space actions)
      : observations_(std::move(observations)), actions_(std::move(actions)) {}

 private:
  Space observations_, actions_;
};

}  // namespace hilo
