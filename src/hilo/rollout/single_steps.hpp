#pragma once

#include <vector>

#include "hilo/env/simulator.hpp"

namespace hilo {

// Where a single step draws its random numbers.
struct StepStream {
  std::uint64_t seed;
  Purpose purpose;
  std::uint32_t episode, pair, rollout;
};

// Asks a simulator for one step at a time, for learners of models.
class SingleSteps {
 public:
  explicit SingleSteps(const Simulator& simulator);

  // A step from `start`, which must not be terminal. Throws if the simulator gave something else.
  Step sample(const Simulator& simulator, StateAction start, const StepStream& stream);

 private:
  std::vector<GreedyHead> heads_;  // of a policy that is never asked: the action is given
  Action no_tie_ = 0;
  Episode path_;
};

}  // namespace hilo
