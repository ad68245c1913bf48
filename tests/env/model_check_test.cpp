#include "hilo/env/model_check.hpp"

#include <cmath>
#include <limits>

#include "hilo/env/one_path_simulator.hpp"
#include "hilo/exact/evaluate.hpp"
#include "hilo/exact/solve.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

// 0, 1, 2, the last one terminal, as a user would write it: action 0 goes on, action 1 may stay.
struct Chain final : Model {
  std::vector<Outcome> broken;  // what (1, 1) does instead, if not empty
  std::vector<StartProbability> start = {{0, 1}};
  mutable int calls = 0;

  std::size_t num_states() const override { return 3; }
  std::size_t num_actions() const override { return 2; }
  bool is_terminal(State s) const override { return s == 2; }
  std::vector<StartProbability> start_distribution() const override { return start; }
  void outcomes(State s, Action a, std::vector<Outcome>& out) const override {
    ++calls;
    if (s == 1 && a == 1 && !broken.empty())
      out = broken;
    else if (a == 0)
      out = {{s + 1, 1, 1}};
    else
      out = {{s, 0.5, 0}, {s + 1, 0.5, 1}};
  }
};

void expect_refused(std::vector<Outcome> row, const std::string& why) {
  Chain model;
  model.broken = std::move(row);
  expect_error([&] { value_iteration(model, 0.9); }, Errc::simulator, {"state 1, action 1", why});
  expect_error([&] { policy_iteration(model, 0.9); }, Errc::simulator, {"state 1, action 1", why});
  const PolicyMatrix uniform{3, 2, std::vector<double>(6, 0.5)};
  expect_error([&] { evaluate_policy(model, uniform, 0.9); }, Errc::simulator, {why});
  expect_error([&] { evaluate_from_start(model, uniform, 0.9, 10); }, Errc::simulator, {why});
}

TEST(ModelCheck, NamesThePairThatIsNoDistribution) {
  expect_refused({{2, 1.5, 1}}, "probability of next state 2 is 1.5");
  expect_refused({{1, 0.75, 0}, {2, 0.75, 1}}, "sum to 1.5");
  expect_refused({{1, 0.5, 0}}, "sum to 0.5");
  expect_refused({{7, 1, 0}}, "next state is 7, but must be in [0, 2]");
  expect_refused({{2, 0.5, 0}, {1, 0.5, 0}}, "distinct and rise");
  expect_refused({{1, 0.5, 0}, {1, 0.5, 0}}, "distinct and rise");
  expect_refused({{1, -0.5, 0}, {2, 1, 0}}, "is -0.5");
  expect_refused({{2, 1, std::numeric_limits<double>::quiet_NaN()}}, "must be finite");
}

TEST(ModelCheck, LooksAtTheStartToo) {
  Chain model;
  model.start = {{3, 1}};
  expect_error([&] { check_model(model); }, Errc::simulator, {"start", "state is 3"});
  model.start = {{0, 0.5}, {1, 0.25}};
  expect_error([&] { check_model(model); }, Errc::simulator, {"start", "sum to 0.75"});
}

TEST(ModelCheck, IsDoneOnce) {
  const Chain model;
  check_model(model);
  const int once = model.calls;
  EXPECT_EQ(once, 4);  // two states that are not terminal, two actions
  check_model(model);
  EXPECT_EQ(model.calls, once);
  // From 1 to the end pays 1; with action 0 from 0 on: 1 + 0.9.
  EXPECT_NEAR(value_iteration(model, 0.9).values.v[0], 1.9, 1e-10);
}

TEST(ModelCheck, StartValueNeedsAValueForEveryState) {
  const Chain model;
  expect_error(
      [&] {
        start_value(model, std::vector<double>{1, 2});
      },
      Errc::usage, {"2 values", "3 states"});
}

// After-states that tell another story than the outcomes.
struct AfterChain final : Model {
  double reward = 1;
  std::uint32_t after = 0;
  State leads_to = 1;

  std::size_t num_states() const override { return 2; }
  std::size_t num_actions() const override { return 1; }
  bool is_terminal(State s) const override { return s == 1; }
  std::vector<StartProbability> start_distribution() const override { return {{0, 1}}; }
  void outcomes(State, Action, std::vector<Outcome>& out) const override { out = {{1, 1, 1}}; }
  std::size_t num_afterstates() const override { return 1; }
  std::uint32_t afterstate(State, Action) const override { return after; }
  double expected_reward_of(State, Action) const override { return reward; }
  void successors(std::uint32_t, std::vector<Outcome>& out) const override {
    out = {{leads_to, 1, 0}};
  }
};

TEST(ModelCheck, ComparesAfterStatesWithOutcomes) {
  EXPECT_NO_THROW(check_model(AfterChain()));
  AfterChain model;
  model.reward = 3;
  expect_error([&] { solve_afterstates(model, 0.9); }, Errc::simulator,
               {"state 0, action 0", "expected reward is 3"});
  model.reward = 1;
  model.leads_to = 0;
  expect_error([&] { check_model(model); }, Errc::simulator,
               {"after-state 0 has other successors"});
  model.leads_to = 1;
  model.after = 4;
  expect_error([&] { check_model(model); }, Errc::simulator, {"after-state is 4"});
}

// The environment around it.
struct ChainEnvironment {
  std::shared_ptr<const Chain> chain;
  std::size_t states = 3;
  State last = 2;

  std::size_t num_states() const { return states; }
  std::size_t num_actions() const { return 2; }
  bool is_terminal(State s) const { return s == last; }
  State reset(Rng&) const { return 0; }
  double reward(State, Action, State) const { return 1; }
  Step step(State s, Action, Rng&) const { return {s + 1, 1, s + 1 == last}; }
  const Model* model() const { return chain.get(); }
};

TEST(ModelCheck, HappensWhenASimulatorIsMade) {
  const auto good = std::make_shared<const Chain>();
  EXPECT_NE(make_simulator(ChainEnvironment{good})->model(), nullptr);
  const auto bad = std::make_shared<Chain>();
  bad->broken = {{2, 0.25, 1}};
  expect_error([&] { make_simulator(ChainEnvironment{bad}); }, Errc::simulator,
               {"state 1, action 1", "sum to 0.25"});
  expect_error(
      [&] {
        make_simulator(ChainEnvironment{good, 5});
      },
      Errc::simulator, {"3 states and 2 actions", "5 and 2"});
  const auto fresh = std::make_shared<const Chain>();
  expect_error(
      [&] {
        make_simulator(ChainEnvironment{fresh, 3, 1});
      },
      Errc::simulator, {"state 1 is not terminal, but in its simulator it is"});
}

}  // namespace
}  // namespace hilo
