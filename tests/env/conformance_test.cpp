// What every environment of the catalogue must pass. A new kind is added to make_problems.
#include <cmath>
#include <set>

#include "hilo/env/catalogue.hpp"
#include "hilo/env/table_csv.hpp"
#include "hilo/policy/policy_file.hpp"
#include "support/problems.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace hilo {
namespace {

struct Named {
  std::string kind;
  Problem problem;
};

std::vector<Named> make_problems() {
  std::vector<Named> problems;
  for (const char* projection : {"simplex", "bisection", "clip"})
    problems.push_back({"random-mdp", build_problem("random-mdp",
                                                    {{"states", std::int64_t{30}},
                                                     {"actions", std::int64_t{3}},
                                                     {"projection", projection}},
                                                    1)});
  const testing::TemporaryFolder folder;
  const auto high = testing::small_mdp(1);
  save_pair(*high, *testing::small_mdp(2), StateMap::identity(12), folder.path());
  problems.push_back({"table", build_problem("table", {{"folder", folder.path().string()}}, 1)});
  problems.push_back({"docking", build_problem("docking", {{"cells", std::int64_t{7}}}, 1)});
  for (const char* which : {"i", "ii"})
    problems.push_back({"nas-bench-201", build_problem("nas-bench-201", {{"case", which}}, 1)});
  return problems;
}

void check_model(const Model& model) {
  double start = 0;
  for (const auto& [state, probability] : model.start_distribution()) {
    EXPECT_FALSE(model.is_terminal(state));
    EXPECT_GT(probability, 0);
    start += probability;
  }
  EXPECT_NEAR(start, 1, 1e-9);
  std::vector<Outcome> outcomes;
  for (State s = 0; s < model.num_states(); ++s)
    for (Action a = 0; a < model.num_actions(); ++a) {
      model.outcomes(s, a, outcomes);
      double sum = 0;
      for (std::size_t i = 0; i < outcomes.size(); ++i) {
        EXPECT_GT(outcomes[i].probability, 0);
        EXPECT_LT(outcomes[i].next, model.num_states());
        EXPECT_TRUE(std::isfinite(outcomes[i].reward));
        EXPECT_TRUE(i == 0 || outcomes[i].next > outcomes[i - 1].next);
        sum += outcomes[i].probability;
      }
      EXPECT_NEAR(sum, 1, 1e-9);
      if (model.is_terminal(s)) {
        ASSERT_EQ(outcomes.size(), 1U);
        EXPECT_EQ(outcomes[0].next, s);
        EXPECT_EQ(outcomes[0].reward, 0);
      }
    }
}

// Paths are possible, pay what reward() says, and depend on their stream alone.
void check_paths(const Simulator& simulator) {
  const QTable q(simulator.num_states(), simulator.num_actions());
  Episode path, again;
  std::set<std::vector<State>> distinct;
  for (std::uint32_t k = 0; k < 50; ++k) {
    const StreamAddress streams = {.seed = 3, .episode = k};
    simulator.run_episode(q.behaviour(1), streams, {}, path);
    EXPECT_TRUE(simulator.is_terminal(path.states.back()));
    EXPECT_FALSE(path.truncated);
    for (std::size_t t = 0; t < path.length(); ++t) {
      EXPECT_FALSE(simulator.is_terminal(path.states[t]));
      EXPECT_EQ(path.rewards[t],
                simulator.reward(path.states[t], path.actions[t], path.states[t + 1]));
    }
    distinct.insert(path.states);
    // The same path, one step at a time.
    EXPECT_EQ(simulator.reset(streams), path.states[0]);
    for (std::uint32_t t = 0; t < path.length(); ++t) {
      StreamAddress at = streams;
      at.first_step = t;
      const Step step = simulator.step({path.states[t], path.actions[t]}, at);
      EXPECT_EQ(step.next, path.states[t + 1]);
      EXPECT_EQ(step.reward, path.rewards[t]);
      EXPECT_EQ(step.done, path.ends_at(t));
    }
    simulator.run_episode(q.behaviour(1), {.seed = 99}, {}, again);  // between the two
    simulator.run_episode(q.behaviour(1), streams, {}, again);
    EXPECT_EQ(path.states, again.states);
    EXPECT_EQ(path.actions, again.actions);
  }
  EXPECT_GT(distinct.size(), 25U);

  for (State s = 0; s < simulator.num_states(); ++s) {
    if (simulator.is_terminal(s)) continue;
    simulator.record(q.behaviour(1), {.seed = 3}, {}, {s, 1}, path);
    EXPECT_EQ(path.states[0], s);
    EXPECT_EQ(path.actions[0], 1U);
  }
}

TEST(EnvironmentConformance, EveryProblemPasses) {
  std::set<std::string> covered;
  for (const auto& [kind, problem] : make_problems()) {
    SCOPED_TRACE(kind);
    covered.insert(kind);
    const auto* high = dynamic_cast<const Simulator*>(&problem.pair.high());
    ASSERT_NE(high, nullptr);
    for (const Simulator* simulator : {high, &problem.pair.low()}) {
      if (simulator->model() != nullptr) check_model(*simulator->model());
      check_paths(*simulator);
    }
    const StateMap& map = problem.pair.map();
    EXPECT_EQ(map.num_high_states(), high->num_states());  // T is total
  }
  covered.insert("program");  // it draws its own random numbers: program_test.cpp
  for (const ProblemKind& kind : problem_kinds())
    EXPECT_TRUE(kind.has_vectors({}) || covered.contains(kind.name))
        << kind.name << " is not in the battery";
}

// The same for problems of vectors: paths are functions of their addresses, whole or in parts, and
// stay in their spaces, and the cheap simulator can be started where the expensive one is.
TEST(EnvironmentConformance, EveryProblemOfVectorsPasses) {
  for (const ProblemKind& kind : problem_kinds()) {
    if (!kind.has_vectors({})) continue;
    SCOPED_TRACE(kind.name);
    const VectorProblem problem = build_vector_problem(kind, {}, 3);
    const VectorSimulator& high = problem.pair.high();
    const auto policy = uniform_policy(high.observation_space(), high.action_space());
    const Horizon horizon{.gamma = 0.9, .max_steps = 40};
    std::vector<RolloutSummary> all(20), second(10);
    high.run_episodes(*policy, {.seed = 3}, horizon, all);
    high.run_episodes(*policy, {.seed = 3, .first_rollout = 10}, horizon, second);
    VectorEpisode episode(high);
    for (std::uint32_t i = 0; i < 20; ++i) {
      high.run_episode(*policy, {.seed = 3, .first_rollout = i}, horizon, episode);
      EXPECT_EQ(summarise(episode, 0.9).discounted_return, all[i].discounted_return);
      if (i >= 10) {
        EXPECT_EQ(second[i - 10].discounted_return, all[i].discounted_return);
      }
      for (std::size_t t = 0; t <= episode.length(); ++t)
        EXPECT_TRUE(high.observation_space().contains(episode.observations[t]));
    }
    if (!problem.pair.has_low()) continue;
    const VectorSteps& low = *problem.pair.shared_low();
    Columns states(high.observation_space().dimension(), 3), actions(1, 3);
    for (std::size_t i = 0; i < 3; ++i) states.set(i, episode.observations[i].coordinates());
    StepResults results;
    results.resize(states.padded());
    const Stream stream(3, Purpose::low_rollout);
    Columns alone(states.rows(), 1), none(1, 1);
    alone.fill(std::vector<double>(episode.observations[1].coordinates().begin(),
                                   episode.observations[1].coordinates().end()));
    low.step(states, actions, {&stream, 1}, 1, results);
    low.step(alone, none, {&stream, 1}, 1, results);
    for (std::size_t d = 0; d < states.rows(); ++d) EXPECT_EQ(states.at(d, 1), alone.at(d, 0));
  }
}

}  // namespace
}  // namespace hilo
