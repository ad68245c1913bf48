#pragma once

#include <optional>
#include <span>

#include "hilo/driver/learner.hpp"
#include "hilo/env/fidelities.hpp"
#include "hilo/env/vector_simulator.hpp"
#include "hilo/policy/q_table.hpp"

// For the sources of this folder only: the final test of a learn run, sharpened by its cheap
// simulators.
namespace hilo {

// One episode of the final test that succeeded.
struct TestEpisode {
  std::uint64_t number;
  double value;
};

struct ControlledTest {
  std::optional<ControlledTestValue> value;  // nothing: the cheap simulators did not help
  std::uint64_t low_steps = 0;               // that it took
};

// Runs the greedy policy of `q` in the cheap simulators with the random numbers of the tests, and
// in further episodes of their own. `streams` is the address of test 0; `cost_ratio` is the cost of
// an expensive step in cheap ones, 0 if cheap ones cost nothing.
ControlledTest run_controlled_test(const Fidelities& fidelities, const QTable& q,
                                   std::span<const TestEpisode> tests, const StreamAddress& streams,
                                   const Horizon& horizon, double cost_ratio);
// The same for vectors, with one cheap simulator.
ControlledTest run_controlled_test(const VectorSimulator& low, const Policy& policy,
                                   std::span<const TestEpisode> tests, const StreamAddress& streams,
                                   const Horizon& horizon, double cost_ratio);

}  // namespace hilo
