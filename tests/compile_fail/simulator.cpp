// A simulator with one slip, chosen by a macro; without one it compiles. What the compiler must say
// is in compile_fail_tests.cmake.
#include <hilo/env/one_path_simulator.hpp>
#include <utility>

#ifndef STEP
#define STEP hilo::Step step(hilo::State s, hilo::Action, hilo::Rng&) const
#endif
#ifndef STEP_RETURNS
#define STEP_RETURNS \
  { .next = s, .reward = 0, .done = true }
#endif
#ifndef RESET
#define RESET hilo::State reset(hilo::Rng&) const
#endif
#ifndef NUM_STATES
#define NUM_STATES std::size_t num_states() const
#endif
#ifndef IS_TERMINAL
#define IS_TERMINAL bool is_terminal(hilo::State) const
#endif
#ifndef REWARD
#define REWARD double reward(hilo::State, hilo::Action, hilo::State) const
#endif
#ifndef ACCESS
#define ACCESS public
#endif

struct Walk {
  NUM_STATES { return 2; }
  std::size_t num_actions() const { return 2; }
  IS_TERMINAL { return false; }
  RESET { return 0; }
  STEP { return STEP_RETURNS; }
#ifdef MODEL
  MODEL { return nullptr; }
#endif

  ACCESS : REWARD { return {}; }
};

int main() { hilo::make_simulator(Walk{}); }
