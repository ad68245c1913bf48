#include "hilo/rollout/single_steps.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {

Step sample_step(const Simulator& simulator, StateAction start, const StreamAddress& streams) {
  const Step step = simulator.step(start, streams);
  if (step.next >= simulator.num_states() || !std::isfinite(step.reward))
    throw Error(
        Errc::simulator,
        fmt::format("low fidelity, state {}, action {}: the next state is {} and the "
                    "reward {}, but they must be in [0, {}] and finite",
                    start.state, start.action, step.next, step.reward, simulator.num_states() - 1));
  return step;
}

}  // namespace hilo
