#pragma once

#include <functional>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/env/simulator.hpp"
#include "hilo/experiment/training.hpp"
#include "hilo/rollout/truncation.hpp"

namespace hilo {

// Thrown where somebody was told to stop.
struct Interrupted {};

// Trains an agent on a table to the end: the loop of training.hpp in one call. Exact values need a
// high fidelity with a model and are left out without one. `keep_going` is asked before every test
// and every episode; when it says no, Interrupted is thrown.
std::vector<Measurement> train(TabularAgent& agent, const EpisodeSimulator& high,
                               const TrainingOptions& options, const TestPlan& test,
                               const std::function<bool()>& keep_going,
                               Truncation truncation = Truncation::drop);

}  // namespace hilo
