#include "hilo/agent/corrected.hpp"

#include <gtest/gtest.h>

#include "hilo/agent/catalogue.hpp"
#include "hilo/agent/direct.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/policy/network_file.hpp"
#include "support/expect_error.hpp"

namespace hilo {
namespace {

// Small enough for a test: fifty steps, little effort.
VectorProblem small_problem(NamedValues more = {}) {
  more["steps"] = std::int64_t{50};
  return build_vector_problem(problem_kind("pendulum"), more, 0);
}

CorrectedOptions quick() {
  CorrectedOptions out;
  out.layers = {4};
  out.scenarios = 6;
  out.population = 8;
  out.restarts = 1;
  out.generations = 8;
  out.frequencies = 30;
  out.fit_points = 60;
  return out;
}

VectorEpisode play(const VectorProblem& problem, const Agent& agent, std::uint64_t seed) {
  VectorEpisode episode(problem.pair.high());
  problem.pair.high().run_episode(*agent.policy(),
                                  {.seed = seed,
                                   .purpose = Purpose::high_episode,
                                   .episode = static_cast<std::uint32_t>(agent.episodes())},
                                  {.gamma = 1}, episode);
  return episode;
}

TEST(Corrected, ContinuesFromASavedStateWithTheSameBits) {
  for (const bool has_low : {true, false}) {
    const VectorProblem problem = small_problem();
    const VectorFidelities pair =
        has_low ? problem.pair : VectorFidelities(problem.pair.shared_high());
    Corrected whole(pair, quick(), 7);
    whole.prepare();
    std::vector<std::byte> saved;
    for (int e = 0; e < 4; ++e) {
      if (e == 2) saved = whole.save();
      whole.learn(play(problem, whole, 7));
    }
    CorrectedOptions one_thread = quick();
    one_thread.threads = 1;
    Corrected again(pair, one_thread, 7);
    again.load(saved);
    EXPECT_EQ(again.episodes(), 2U);
    for (int e = 2; e < 4; ++e) again.learn(play(problem, again, 7));
    EXPECT_EQ(again.save(), whole.save());
    EXPECT_EQ(again.artifact(), whole.artifact());

    Corrected other(pair, quick(), 8);
    EXPECT_THROW(other.load(saved), Error);
    for (std::size_t cut = 0; cut < saved.size(); cut += 97)
      EXPECT_THROW(again.load(std::span(saved).first(cut)), Error);
    EXPECT_EQ(again.save(), whole.save());
  }
}

// An error that is one of the numbers of the cheap simulator, and nothing else.
TEST(Corrected, TunesTheCheapSimulatorAndGoesOnWithTheSameBits) {
  const VectorProblem problem = small_problem({{"low.mass", 0.8},
                                               {"low.friction", 0.15},
                                               {"low.strength", 0.85},
                                               {"low.integration", std::string("runge-kutta")},
                                               {"low.substeps", std::int64_t{10}}});
  CorrectedOptions options = quick();
  options.tune = parse_tune("mass 0.5 2");
  Corrected whole(problem.pair, options, 7);
  whole.prepare();
  std::vector<std::byte> saved;
  for (int e = 0; e < 3; ++e) {
    if (e == 1) saved = whole.save();
    whole.learn(play(problem, whole, 7));
  }
  double found = 0;
  for (const Fact& fact : whole.findings())
    if (fact.name == "tuned_1") found = fact.value;
  EXPECT_NEAR(found, 1.4, 0.01);
  Corrected again(problem.pair, options, 7);
  again.load(saved);
  for (int e = 1; e < 3; ++e) again.learn(play(problem, again, 7));
  EXPECT_EQ(again.save(), whole.save());
  for (std::size_t cut = 0; cut < saved.size(); cut += 97)
    EXPECT_THROW(again.load(std::span(saved).first(cut)), Error);

  for (const char* bad : {"colour 0 1", "mass -1 2"}) {  // before anything is paid for
    options.tune = parse_tune(bad);
    EXPECT_THROW(Corrected(problem.pair, options, 7), Error);
  }
  options.tune = parse_tune("mass 0.5 2");
  EXPECT_THROW(Corrected(VectorFidelities(problem.pair.shared_high()), options, 7), Error);
}

TEST(Corrected, TheArtifactIsTheGreedyPolicy) {
  const VectorProblem problem = small_problem();
  Corrected agent(problem.pair, quick(), 1);
  agent.learn(play(problem, agent, 1));
  const PolicyArtifact artifact = agent.artifact();
  EXPECT_EQ(artifact.kind, kNetwork);
  const std::string text(reinterpret_cast<const char*>(artifact.bytes.data()),
                         artifact.bytes.size());
  const auto read = parse_network(text, "artifact");
  std::vector<RolloutSummary> a(5), b(5);
  problem.pair.high().run_episodes(*read, {.seed = 1}, {.gamma = 1}, a);
  problem.pair.high().run_episodes(*agent.greedy_policy(), {.seed = 1}, {.gamma = 1}, b);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(a[i].discounted_return, b[i].discounted_return);
}

// With an identical cheap simulator there is nothing to correct.
TEST(Corrected, HasNoModelWhereNothingDiffers) {
  NamedValues same;
  for (const ParameterInfo& info : problem_kind("pendulum").parameters)
    if (info.name.starts_with("high.") && info.name != "high.delay" &&
        info.name != "high.observation_noise")
      same["low." + info.name.substr(5)] = *info.default_value;
  const VectorProblem problem = small_problem(same);
  Corrected agent(problem.pair, quick(), 1);
  agent.prepare();
  agent.learn(play(problem, agent, 1));
  agent.learn(play(problem, agent, 1));
  ASSERT_NE(agent.model(), nullptr);
  EXPECT_TRUE(agent.model()->is_empty());
  EXPECT_TRUE(agent.uses_low());
}

TEST(Corrected, DropsACheapSimulatorThatIsWorseThanNone) {
  const VectorProblem problem =
      small_problem({{"low.strength", -20.0}, {"low.gravity", -40.0}, {"low.friction", 0.0}});
  Corrected agent(problem.pair, quick(), 1);
  agent.prepare();
  for (int e = 0; e < 3; ++e) agent.learn(play(problem, agent, 1));
  bool tells = false;
  for (const Fact& fact : agent.findings()) tells = tells || fact.name == "uses_low";
  EXPECT_TRUE(tells);
  EXPECT_EQ(agent.remarks().empty(), agent.uses_low());
}

// Steps of the cheap simulator are those that were taken in it, whether it is used or dropped.
TEST(Corrected, BillsTheCheapSimulatorAlone) {
  const VectorProblem problem =
      small_problem({{"low.strength", -20.0}, {"low.gravity", -80.0}, {"low.friction", 0.0}});
  CorrectedOptions options = quick();
  Corrected agent(problem.pair, options, 1);
  agent.prepare();
  for (int e = 0; e < 5; ++e) {
    const bool used_it = agent.uses_low();
    const LearnReport report = agent.learn(play(problem, agent, 1));
    // Comparisons with its own steps are always made; searches are long.
    EXPECT_GE(report.low_steps, 50U);
    if (!used_it && !agent.uses_low()) {
      EXPECT_EQ(report.low_steps, 50U) << e;
    }
    if (used_it && agent.uses_low()) {
      EXPECT_GT(report.low_steps, 1000U) << e;
    }
  }
  options.low_steps = 300;
  Corrected learnt(problem.pair, options, 1);
  EXPECT_EQ(learnt.prepare().low_steps, 300U);
  EXPECT_EQ(learnt.learn(play(problem, learnt, 1)).low_steps, 0U);
}

TEST(Corrected, RefusesNetworksThatNoSearchCanHandle) {
  const VectorProblem problem = small_problem();
  CorrectedOptions options = quick();
  options.layers = {200, 200};
  EXPECT_THROW(Corrected(problem.pair, options, 1), Error);
  EXPECT_THROW(Direct(problem.pair.high(), {.layers = {200, 200}}, 1), Error);
}

// It explodes in a part of the state space, where expensive episodes lead.
class Broken final : public VectorSteps {
 public:
  explicit Broken(std::shared_ptr<const VectorSteps> whole, double from_speed = 0.5)
      : whole_(std::move(whole)), from_speed_(from_speed) {}
  const Space& state_space() const override { return whole_->state_space(); }
  const Space& control_space() const override { return whole_->control_space(); }
  std::span<const std::size_t> angles() const override { return whole_->angles(); }
  void start(const StreamAddress& streams, Columns& states) const override {
    whole_->start(streams, states);
  }
  void step(Columns& states, const Columns& actions, std::span<const Stream> streams,
            std::uint32_t step, StepResults& out) const override {
    const Columns before = states;
    whole_->step(states, actions, streams, step, out);
    for (std::size_t i = 0; i < states.count(); ++i)
      if (before.at(1, i) > from_speed_) states.at(1, i) = NAN;
  }

 private:
  std::shared_ptr<const VectorSteps> whole_;
  double from_speed_;
};

TEST(Corrected, ACheapSimulatorThatAlwaysExplodesIsNamedBeforeAnythingIsPaidFor) {
  const VectorProblem problem = small_problem();
  const VectorFidelities pair(problem.pair.shared_high(),
                              std::make_shared<const Broken>(problem.pair.shared_low(), -100.0));
  Corrected agent(pair, quick(), 7);
  testing::expect_error([&] { agent.prepare(); }, Errc::simulator, {"cheap simulator", "finite"});
}

TEST(Corrected, WhatWasPaidForIsLearntFromWhereTheCheapSimulatorBreaksDown) {
  const VectorProblem problem = small_problem();
  const VectorFidelities pair(problem.pair.shared_high(),
                              std::make_shared<const Broken>(problem.pair.shared_low()));
  for (const std::uint64_t low_steps : {0, 200}) {
    CorrectedOptions options = quick();
    options.low_steps = low_steps;
    Corrected agent(pair, options, 7);
    for (int e = 0; e < 3; ++e) agent.learn(play(problem, agent, 7));
    EXPECT_EQ(agent.episodes(), 3U);
    EXPECT_FALSE(agent.model()->is_empty());
  }
}

// The expensive simulator ends its episodes earlier than it was asked to.
TEST(Corrected, SearchesForEpisodesAsLongAsTheyAre) {
  const VectorProblem problem = small_problem();
  CorrectedOptions options = quick();
  options.max_steps = 50;
  Corrected agent(problem.pair, options, 7);
  agent.prepare();
  const auto episode_of = [&](std::uint32_t steps) {
    VectorEpisode episode(problem.pair.high());
    problem.pair.high().run_episode(*agent.policy(), {.seed = 7, .purpose = Purpose::high_episode},
                                    {.gamma = 1, .max_steps = steps}, episode);
    return episode;
  };
  const std::uint64_t long_ones = agent.learn(episode_of(50)).low_steps;
  Corrected other(problem.pair, options, 7);
  const std::uint64_t first = other.prepare().low_steps;
  EXPECT_LT(other.learn(episode_of(10)).low_steps, long_ones / 3);
  Corrected restored(problem.pair, options, 7);
  restored.load(other.save());
  EXPECT_EQ(restored.save(), other.save());
  EXPECT_EQ(restored.learn(episode_of(10)).low_steps, other.learn(episode_of(10)).low_steps);
  EXPECT_GT(first, 0U);
}

TEST(Corrected, LowOnlyDoesNotLearn) {
  const VectorProblem problem = small_problem();
  CorrectedOptions options = quick();
  options.corrects = false;
  Corrected agent(problem.pair, options, 1);
  agent.prepare();
  const PolicyArtifact before = agent.artifact();
  agent.learn(play(problem, agent, 1));
  EXPECT_EQ(agent.artifact(), before);
  EXPECT_EQ(agent.episodes(), 1U);
}

TEST(Direct, ImprovesAndContinuesWithTheSameBits) {
  const VectorProblem problem = small_problem();
  const DirectOptions options{.layers = {}, .population = 8};
  Direct whole(problem.pair.high(), options, 3), part(problem.pair.high(), options, 3);
  std::vector<std::byte> saved;
  for (int e = 0; e < 60; ++e) {
    if (e == 27) saved = whole.save();
    whole.learn(play(problem, whole, 3));
  }
  part.load(saved);
  EXPECT_EQ(part.episodes(), 27U);
  for (int e = 27; e < 60; ++e) part.learn(play(problem, part, 3));
  EXPECT_EQ(part.artifact(), whole.artifact());
}

TEST(AgentKinds, AgentsOfVectorsAndOfTablesAreKeptApart) {
  EXPECT_THROW(require_domain(agent_kind("mcrl"), true), Error);
  EXPECT_THROW(require_domain(agent_kind("corrected"), false), Error);
  for (const char* name : {"corrected", "corrected-high", "direct", "low-only"})
    EXPECT_NO_THROW(require_domain(agent_kind(name), true)) << name;
  EXPECT_NO_THROW(require_domain(agent_kind("low-only"), false));
}

}  // namespace
}  // namespace hilo
