#pragma once

#include <functional>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/stop_request.hpp"
#include "hilo/env/simulator.hpp"
#include "hilo/experiment/training.hpp"
#include "hilo/rollout/truncation.hpp"

namespace hilo {

// Trains a tabular agent to the end: the loop of training.hpp in one call. Exact values need a high
// fidelity with a model and are left out without one. `keep_going` is called before the
// preparation, every test and every episode; Interrupted is thrown when it returns false.
std::vector<Measurement> train(TabularAgent& agent, const EpisodeSimulator& high,
                               const TrainingOptions& options, const TestPlan& test,
                               const std::function<bool()>& keep_going,
                               Truncation truncation = Truncation::drop);

}  // namespace hilo
