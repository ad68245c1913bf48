#include "hilo/env/one_path_simulator.hpp"

#include <fmt/format.h>

namespace hilo {

void throw_bad_reset(State s, std::size_t num_states) {
  throw Error(Errc::simulator,
              fmt::format("simulator: reset gave state {}, but must give one in [0, {}]", s,
                          num_states - 1));
}

void throw_bad_step(State s, Action a, const Step& step, std::size_t num_states) {
  if (step.next >= num_states)
    throw Error(
        Errc::simulator,
        fmt::format("simulator: state {}, action {}: next state is {}, but must be in [0, {}]", s,
                    a, step.next, num_states - 1));
  throw Error(Errc::simulator,
              fmt::format("simulator: state {}, action {}: reward is {}, but must be finite", s, a,
                          step.reward));
}

}  // namespace hilo
