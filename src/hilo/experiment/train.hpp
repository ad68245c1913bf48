#pragma once

#include <functional>

#include "hilo/agent/agent.hpp"
#include "hilo/env/run_observer.hpp"
#include "hilo/env/simulator.hpp"
#include "hilo/exact/optimum.hpp"
#include "hilo/experiment/records.hpp"
#include "hilo/rollout/truncation.hpp"

namespace hilo {

// A budget in episodes or in high-fidelity steps: the one that is not 0 counts.
struct TrainOptions {
  std::uint64_t episodes = 0;
  std::uint64_t steps = 0;
  double gamma = 0.99;
  std::uint32_t max_steps = 10'000;
  std::uint64_t seed = 0;
  // The first so many episodes follow the uniform policy: those of a pilot study, used again.
  std::uint64_t pilot_episodes = 0;
  Truncation truncation = Truncation::drop;
  RunObserver* observer = nullptr;  // told of every training episode, asked at every test
  std::function<void(double)> on_progress = {};  // told the share that is done, a hundred times
};

struct TestOptions {
  std::uint64_t every = 50;
  std::uint32_t episodes = 200;      // 0: none, the rewards of training are recorded instead
  std::uint64_t exact_every = 0;     // 0: never
  const Optimum* optimum = nullptr;  // of the high fidelity, where it is known
  bool count_steps = false;          // record at every test what was spent so far
};

// Thrown by train when it was told to stop.
struct Interrupted {};

// The one training loop: lets the agent prepare, tests before the first episode, after every
// `every` and after the last one. Throws if all of the first episodes were cut and dropped: nothing
// would ever be learnt. Exact values need a high fidelity with a model and are left out
// without one. `keep_going` is asked before every test and every episode; when it says
// no, Interrupted is thrown.
std::vector<Measurement> train(Agent& agent, const EpisodeSimulator& high,
                               const TrainOptions& train, const TestOptions& test,
                               const std::function<bool()>& keep_going);

}  // namespace hilo
