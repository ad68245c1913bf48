#include "hilo/rollout/shadow.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {

void shadow(const Fidelities& pair, const Episode& high, Episode& low) {
  low.begin(pair.map().low_of(high.states[0]));
  for (std::size_t t = 0; t < high.length(); ++t) {
    const State s = low.states[t];
    const Action a = high.actions[t];
    const State next = pair.map().low_of(high.states[t + 1]);
    const double reward = pair.low().reward(s, a, next);
    if (!std::isfinite(reward))
      throw Error(Errc::simulator,
                  fmt::format("low fidelity: state {}, action {}: reward is {}, but must be finite",
                              s, a, reward));
    low.append(a, reward, next);
  }
  low.truncated = high.truncated;
}

}  // namespace hilo
