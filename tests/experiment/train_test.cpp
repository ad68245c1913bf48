#include "hilo/experiment/train.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "hilo/agent/mcrl.hpp"
#include "hilo/env/one_path_simulator.hpp"

namespace hilo {
namespace {

// Starts in 0 or 1, with even odds, and ends at once: 1 is paid there, or 3. It has no model.
struct Lottery {
  std::size_t num_states() const { return 3; }
  std::size_t num_actions() const { return 1; }
  bool is_terminal(State s) const { return s == 2; }
  State reset(Rng& rng) const { return rng.below(2); }
  double reward(State s, Action, State) const { return s == 0 ? 1 : 3; }
  Step step(State s, Action a, Rng&) const { return {2, reward(s, a, 2), true}; }
};

// With a share w of episodes from 1, the agent expects 1 + 2 w, and nothing but w is in doubt:
// its standard error is 2 sqrt(w (1 - w) / N).
TEST(Train, RecordsWhatTheAgentExpectsWhereNothingElseTells) {
  const auto high = make_simulator(Lottery());
  for (const std::uint32_t tests : {0U, 5U}) {
    Mcrl agent(3, 1, {.gamma = 1});
    const auto all = train(agent, *high, {.episodes = 100, .gamma = 1},
                           {.every = 100, .episodes = tests}, [] { return true; });
    std::map<std::string, double> last;
    for (const Measurement& m : all) last[m.metric] = m.value;
    EXPECT_EQ(last.contains("own_value"), tests == 0);
    if (tests > 0) continue;
    const double w = (last["own_value"] - 1) / 2;
    EXPECT_NEAR(w, 0.5, 0.2);  // four standard errors of 0.05; the seed is fixed
    EXPECT_NEAR(last["own_value_error"], 2 * std::sqrt(w * (1 - w) / 100), 1e-9);
  }
}

}  // namespace
}  // namespace hilo
