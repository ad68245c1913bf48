#include "hilo/env/source_simulator.hpp"

#include <functional>
#include <limits>
#include <numeric>

#include "hilo/env/one_path_simulator.hpp"
#include "hilo/policy/q_table.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

using testing::expect_error;

// A corridor of five cells with its own state, asked one step at a time: right pays 1, the last
// cell ends.
class Corridor final : public StepSource {
 public:
  Corridor() : StepSource(Space::discrete(5), Space::discrete(2)) {}
  void reset(std::uint32_t seed, Points& out) override {
    seeds.push_back(seed);
    out.push_back(at_ = 0);
  }
  bool put(const Point& observation, std::uint32_t seed) override {
    seeds.push_back(seed);
    at_ = observation.index();
    return false;
  }
  SourceStep step(const Point& action, Points& out) override {
    if (says) return says(out);
    at_ = action.index() == 1 ? at_ + 1 : (at_ > 0 ? at_ - 1 : 0);
    out.push_back(at_);
    return {.reward = static_cast<double>(action.index()), .ended = at_ == 4};
  }
  double reward(const Point&, const Point& action, const Point&) override {
    return static_cast<double>(action.index());
  }

  std::function<SourceStep(Points&)> says;  // in place of the truth
  std::vector<std::uint32_t> seeds;

 private:
  std::uint64_t at_ = 0;
};

struct Made {
  std::shared_ptr<Corridor> source = std::make_shared<Corridor>();
  SourceSimulator simulator{SourcePaths(source, {4}, "low fidelity")};
  QTable q{5, 2};
};

// The same corridor as an environment gives the same paths: actions come from the same words.
struct SameCorridor {
  std::size_t num_states() const { return 5; }
  std::size_t num_actions() const { return 2; }
  bool is_terminal(State s) const { return s == 4; }
  State reset(Rng&) const { return 0; }
  double reward(State, Action a, State) const { return a; }
  Step step(State s, Action a, Rng&) const {
    const State next = a == 1 ? s + 1 : (s > 0 ? s - 1 : 0);
    return {next, reward(s, a, next), next == 4};
  }
};

TEST(SourceSimulator, GivesThePathsOfTheSameEnvironment) {
  const Made made;
  const auto reference = make_simulator(SameCorridor{});
  Episode path, expected;
  const StreamAddress streams = {.seed = 7, .episode = 3};
  made.simulator.run_episode(made.q.behaviour(1), streams, {}, path);
  reference->run_episode(made.q.behaviour(1), streams, {}, expected);
  EXPECT_EQ(path.states, expected.states);
  EXPECT_EQ(path.actions, expected.actions);
  EXPECT_EQ(path.rewards, expected.rewards);
  EXPECT_FALSE(path.truncated);
  const std::vector<StateAction> starts = {{0, 1}, {3, 1}, {4, 0}};
  std::vector<RolloutSummary> found(6), wanted(6);
  made.simulator.roll_out(made.q.behaviour(1), streams, {.gamma = 0.9}, starts, 2, found);
  reference->roll_out(made.q.behaviour(1), streams, {.gamma = 0.9}, starts, 2, wanted);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(found[i].discounted_return, wanted[i].discounted_return);
    EXPECT_EQ(found[i].steps, wanted[i].steps);
  }
  const Step step = made.simulator.step({2, 1}, streams);
  EXPECT_EQ(step.next, 3U);
  EXPECT_FALSE(step.done);
  EXPECT_EQ(made.simulator.reward(0, 1, 1), 1);
  for (const Simulator* one : {static_cast<const Simulator*>(&made.simulator), reference.get()})
    expect_error([&] { one->step({4, 1}, streams); }, Errc::usage, {"state 4 is terminal"});
  for (const std::uint32_t seed : made.source->seeds) EXPECT_LT(seed, 1U << 31);
}

// Nothing that a source says is believed.
TEST(SourceSimulator, ChecksEveryAnswer) {
  const Made made;
  Episode path;
  const auto with = [&](std::function<SourceStep(Points&)> says) {
    return [&, says] {
      made.source->says = says;
      made.simulator.run_episode(made.q.behaviour(1), {}, {.max_steps = 3}, path);
    };
  };
  expect_error(with([](Points& out) {
                 out.push_back(std::uint64_t{5});
                 return SourceStep{};
               }),
               Errc::simulator, {"low fidelity, state 0", "next state is 5", "from 0 to 4"});
  expect_error(with([](Points& out) {
                 out.push_back(std::uint64_t{1});
                 return SourceStep{.reward = std::numeric_limits<double>::quiet_NaN()};
               }),
               Errc::simulator, {"reward is nan"});
  expect_error(with([](Points&) { return SourceStep{}; }), Errc::simulator, {"one observation"});
  // A source that asks itself would wait for ever.
  expect_error(with([&](Points&) {
                 Episode inner;
                 made.simulator.run_episode(made.q.behaviour(1), {}, {}, inner);
                 return SourceStep{};
               }),
               Errc::usage, {"from within its own"});
  // What it calls cut is cut.
  with([](Points& out) {
    out.push_back(std::uint64_t{1});
    return SourceStep{.reward = 1, .cut = true};
  })();
  EXPECT_TRUE(path.truncated);
  EXPECT_EQ(path.length(), 1U);
}

TEST(SourceSimulator, ABoxIsNoTable) {
  class Box final : public StepSource {
   public:
    Box() : StepSource(Space::box({0}, {1}), Space::discrete(2)) {}
    void reset(std::uint32_t, Points&) override {}
    SourceStep step(const Point&, Points&) override { return {}; }
  };
  expect_error([] { SourcePaths(std::make_shared<Box>(), {}, "high fidelity"); }, Errc::usage,
               {"must be discrete"});
  Box box;
  expect_error([&] { box.put(Point(1), 0); }, Errc::usage, {"cannot be started anywhere"});
}

}  // namespace
}  // namespace hilo
