// What becomes of episodes that are cut: rollout/truncation.hpp.
#include "hilo/rollout/truncation.hpp"

#include "hilo/agent/catalogue.hpp"
#include "hilo/agent/mcrl.hpp"
#include "hilo/agent/mfmcrl.hpp"
#include "hilo/agent/q_learning.hpp"
#include "hilo/diagnose/pilot.hpp"
#include "hilo/env/one_path_simulator.hpp"
#include "hilo/experiment/train.hpp"
#include "support/expect_error.hpp"
#include "support/problems.hpp"

namespace hilo {
namespace {

using testing::expect_error;

// Two states and one action: from 0 to 0 or to the end, each with probability 1/2, reward 1.
std::shared_ptr<const TabularMdp> coin() {
  TabularBuilder builder(2, 1, std::vector<State>{1});
  builder.add_row(std::vector<State>{0, 1}, std::vector<double>{0.5, 0.5}, 1);
  builder.add_absorbing_row();
  return builder.build(std::vector<StartProbability>{{0, 1}});
}

double metric(const std::vector<Measurement>& all, const std::string& name) {
  for (const Measurement& m : all)
    if (m.metric == name) return m.value;
  return -1;
}

std::vector<Measurement> run(TabularAgent& agent, const EpisodeSimulator& high,
                             Truncation truncation, std::uint32_t max_steps,
                             std::uint64_t episodes = 400) {
  return train(
      agent, high, {.episodes = episodes, .gamma = 1, .max_steps = max_steps},
      {.every = episodes, .episodes = 1}, [] { return true; }, truncation);
}

TEST(Truncation, HasTwoNames) {
  EXPECT_EQ(truncation_from_name("drop"), Truncation::drop);
  EXPECT_EQ(truncation_from_name("terminal"), Truncation::terminal);
  expect_error([] { truncation_from_name("ignore"); }, Errc::spec, {"'ignore'", "drop, terminal"});
}

// Cut after 2 steps: half of the episodes end in the first step, a quarter in the second, and a
// quarter is cut. Dropped, the mean return is (1 * 1/2 + 2 * 1/4) / (3/4) = 4/3; taken for ended,
// 1 * 1/2 + 2 * 1/2 = 3/2. Standard errors are sqrt(2/9 / 300) = 0.027 and sqrt(1/4 / 400) = 0.025;
// four of them are allowed, a false alarm in 16,000.
TEST(Truncation, DropLeavesCutReturnsOutAndTerminalTakesThem) {
  const auto high = make_simulator(coin());
  for (const bool drop : {true, false}) {
    Mcrl agent(2, 1, {.gamma = 1, .epsilon = 0.1});
    const auto out = run(agent, *high, drop ? Truncation::drop : Truncation::terminal, 2);
    EXPECT_NEAR(agent.q()(0, 0), drop ? 4.0 / 3 : 1.5, 0.11);
    const double cut = metric(out, "truncated_high");
    EXPECT_NEAR(cut, 100, 40);  // binomial, sd 8.7
    EXPECT_EQ(metric(out, "dropped"), drop ? cut : 0);
    EXPECT_EQ(agent.returns(0, 0).count(), drop ? 400 - static_cast<std::uint64_t>(cut) : 400U);
    EXPECT_EQ(agent.episodes(), 400U);
  }
}

TEST(Truncation, NothingIsRecordedWhereNothingWasCut) {
  const auto high = make_simulator(coin());
  Mcrl agent(2, 1, {});
  const auto out = run(agent, *high, Truncation::drop, 10'000);
  EXPECT_EQ(metric(out, "truncated"), 0);
  EXPECT_EQ(metric(out, "truncated_high"), -1);
}

TEST(Truncation, MfmcrlDropsCutRollOutsToo) {
  const auto high = make_simulator(coin());
  for (const Pool pool : {Pool::start_pairs, Pool::first_visits, Pool::whole_paths})
    for (const bool drop : {true, false}) {
      MfmcrlOptions options{.gamma = 1, .low_rollouts = 8, .pool = pool, .max_steps = 1};
      options.truncation = drop ? Truncation::drop : Truncation::terminal;
      Mfmcrl agent(Fidelities(high, high), options, 1);
      Episode episode{.states = {0, 1}, .actions = {0}, .rewards = {1}};
      const LearnReport report = agent.learn(episode);
      const std::uint64_t kept = agent.free_pool(0, 0).count();
      EXPECT_GT(report.truncated_rollouts, 0U);
      if (drop)
        EXPECT_EQ(kept, report.low_steps - report.truncated_rollouts);  // one step each
      else
        EXPECT_EQ(kept, report.low_steps);
      episode.truncated = true;
      EXPECT_TRUE(agent.learn(episode).dropped);
      EXPECT_EQ(agent.paired_returns(0, 0).count(), 1U);
      EXPECT_EQ(agent.episodes(), 2U);
    }
}

// Coupled roll-outs that are cut stay, so the free ones they are compared with must stay too.
TEST(Truncation, MfmcrlTreatsFreeAndCoupledRollOutsAlike) {
  const auto high = make_simulator(coin());
  MfmcrlOptions options{.gamma = 1, .low_rollouts = 8, .max_steps = 1};
  options.coupling = Coupling::none;
  Mfmcrl agent(Fidelities(high, high), options, 1);
  for (int k = 0; k < 20; ++k) agent.learn({.states = {0, 1}, .actions = {0}, .rewards = {1}});
  EXPECT_EQ(agent.path_pool(0, 0).count(), 20U);
  EXPECT_EQ(agent.free_pool(0, 0).count(), 160U);
}

// With steps that are never cut off the value 2 is the fixed point of q = 1 + q / 2.
TEST(Truncation, StepwiseLearnersLoseNothing) {
  const auto high = make_simulator(coin());
  QLearning agent(2, 1, {.gamma = 1, .epsilon = 0.1});
  const auto out = run(agent, *high, Truncation::drop, 1, 20'000);
  EXPECT_EQ(metric(out, "dropped"), 0);
  EXPECT_NEAR(agent.q()(0, 0), 2, 0.2);
  QLearning other(2, 1, {.gamma = 1, .epsilon = 0.1});
  run(other, *high, Truncation::terminal, 1, 20'000);
  EXPECT_NEAR(other.q()(0, 0), 1, 1e-9);
}

TEST(Truncation, AnEnvironmentThatNeverEndsIsAnError) {
  TabularBuilder builder(2, 1, std::vector<State>{1});
  builder.add_row(std::vector<State>{0, 1}, std::vector<double>{1 - 1e-9, 1e-9}, 1);
  builder.add_absorbing_row();
  const auto high = make_simulator(builder.build(std::vector<StartProbability>{{0, 1}}));
  Mcrl agent(2, 1, {});
  expect_error([&] { run(agent, *high, Truncation::drop, 5); }, Errc::simulator,
               {"all of the first 100 episodes were cut", "max_steps is 5", "terminal"});
  Mcrl few(2, 1, {});
  expect_error([&] { run(few, *high, Truncation::drop, 5, 3); }, Errc::simulator, {"first 3"});
  Mcrl other(2, 1, {.gamma = 1});
  run(other, *high, Truncation::terminal, 5, 3);
  EXPECT_EQ(other.q()(0, 0), 5);
}

TEST(Truncation, APilotDropsCutReturns) {
  const auto simulator = make_simulator(coin());
  const Fidelities pair(simulator, simulator);
  for (const bool drop : {true, false}) {
    const Pilot pilot = run_pilot(pair, QTable(2, 1),
                                  {.episodes = 40,
                                   .low_rollouts = 1,
                                   .max_steps = 1,
                                   .truncation = drop ? Truncation::drop : Truncation::terminal},
                                  [] { return true; });
    EXPECT_GT(pilot.truncated, 0U);
    EXPECT_EQ(pilot.returns.size() + pilot.free_returns, drop ? 80 - pilot.truncated : 80U);
  }
}

TEST(Train, WithoutTestsRecordsWhatTrainingGave) {
  const auto high = make_simulator(coin());
  Mcrl agent(2, 1, {});
  const auto out = train(agent, *high, {.episodes = 50, .gamma = 1}, {.every = 10, .episodes = 0},
                         [] { return true; });
  EXPECT_EQ(metric(out, "train_reward"), 1);
  EXPECT_GE(metric(out, "train_return"), 1);
  EXPECT_EQ(metric(out, "test_reward"), -1);
  double sum = 0;
  for (const Measurement& m : out)
    if (m.metric == "train_return") sum += 10 * m.value;
  EXPECT_EQ(sum, metric(out, "high_steps"));
}

// A walk in a circle that pays at every step and never ends, unlike what tables may be.
struct Circle {
  std::size_t num_states() const { return 4; }
  std::size_t num_actions() const { return 2; }
  bool is_terminal(State) const { return false; }
  State reset(Rng&) const { return 0; }
  double reward(State, Action a, State) const { return a == 1 ? 1 : 0.5; }
  Step step(State s, Action a, Rng&) const {
    const State next = (s + 1 + a) % 4;
    return {.next = next, .reward = reward(s, a, next), .done = false};
  }
};

// Whoever writes the loop must be able to see it: an agent learns from a cut episode, or says that
// it dropped it.
TEST(Truncation, NoAgentDropsAnEpisodeInSilence) {
  const Fidelities pair(make_simulator(Circle{}), make_simulator(Circle{}));
  for (const AgentKind& kind : agent_kinds()) {
    if (!kind.build) continue;  // those for vectors learn from single steps
    std::map<std::string, Value> given;
    for (const ParameterInfo& info : kind.parameters)
      if (info.name == "low_steps") given["low_steps"] = std::int64_t{2000};
    if (kind.complete) kind.complete(given);
    const auto agent =
        kind.build(pair, Parameters(kind.name, kind.parameters, given),
                   {.gamma = 0.9, .epsilon = 0.1, .max_steps = 30, .seed = 1, .pilot_episodes = 0});
    agent->prepare();
    std::uint32_t dropped = 0;
    std::vector<double> before(agent->q().values().begin(), agent->q().values().end());
    Episode episode;
    for (std::uint32_t k = 0; k < 20; ++k) {
      pair.high().run_episode(agent->behaviour(),
                              {.seed = 1, .purpose = Purpose::high_episode, .episode = k},
                              {.max_steps = 30}, episode);
      ASSERT_TRUE(episode.truncated);
      dropped += agent->learn(episode).dropped ? 1 : 0;
    }
    const std::vector<double> after(agent->q().values().begin(), agent->q().values().end());
    EXPECT_EQ(agent->episodes(), 20U) << kind.name;
    if (kind.name == "low-only") continue;  // never learns from the high fidelity
    EXPECT_EQ(dropped, after == before ? 20U : 0U) << kind.name;
  }
}

// As the README's loop has it: the cut counts as the end, and is learnt from.
TEST(Truncation, ALoopOfOnesOwnMayTakeTheCutForTheEnd) {
  const auto high = make_simulator(Circle{});
  Mcrl agent(4, 2, {.gamma = 0.9});
  Episode episode;
  high->run_episode(agent.behaviour(), {.seed = 1}, {.max_steps = 30}, episode);
  EXPECT_TRUE(agent.learn(episode).dropped);
  episode.truncated = false;
  EXPECT_FALSE(agent.learn(episode).dropped);
  EXPECT_GT(agent.q()(0, agent.q().greedy_actions(0)[0]), 0);
}

}  // namespace
}  // namespace hilo
