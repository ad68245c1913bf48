// What every agent for vectors must pass. Those of the catalogue are here by themselves.
#include <gtest/gtest.h>

#include "hilo/agent/catalogue.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/parallel.hpp"
#include "hilo/env/catalogue.hpp"

namespace hilo {
namespace {

VectorProblem small_problem() {
  return build_vector_problem(problem_kind("pendulum"), {{"steps", std::int64_t{30}}}, 0);
}

// With little effort.
std::unique_ptr<VectorAgent> make(const AgentKind& kind, const VectorProblem& problem,
                                  std::uint64_t seed) {
  const NamedValues small = {{"units", std::int64_t{3}},       {"scenarios", std::int64_t{4}},
                             {"population", std::int64_t{8}},  {"restarts", std::int64_t{1}},
                             {"generations", std::int64_t{4}}, {"frequencies", std::int64_t{20}},
                             {"fit_points", std::int64_t{40}}, {"batch", std::int64_t{2}}};
  NamedValues given;
  for (const ParameterInfo& info : kind.parameters)
    if (const auto found = small.find(info.name); found != small.end()) given.insert(*found);
  return build_checked(kind, problem.pair, Parameters(kind.name, kind.parameters, given),
                       {.gamma = 1, .seed = seed});
}

void train(const VectorProblem& problem, VectorAgent& agent, std::uint64_t seed,
           std::uint64_t until) {
  VectorEpisode episode(problem.pair.high());
  while (agent.episodes() < until) {
    problem.pair.high().run_episode(*agent.policy(),
                                    {.seed = seed,
                                     .purpose = Purpose::high_episode,
                                     .episode = static_cast<std::uint32_t>(agent.episodes())},
                                    {.gamma = 1}, episode);
    agent.learn(episode);
  }
}

template <class Body>
void for_all_kinds(const Body& body) {
  std::size_t count = 0;
  for (const AgentKind& kind : agent_kinds()) {
    if (!kind.build_vectors) continue;
    SCOPED_TRACE(kind.name);
    body(kind);
    ++count;
  }
  EXPECT_GE(count, 4U);
}

TEST(VectorAgentConformance, PreparesOnce) {
  const VectorProblem problem = small_problem();
  for_all_kinds([&](const AgentKind& kind) {
    const auto agent = make(kind, problem, 5);
    const auto fresh = agent->save();
    const std::uint64_t steps = agent->prepare().low_steps;
    EXPECT_EQ(steps > 0, kind.uses_low_fidelity());
    const auto prepared = agent->save();
    EXPECT_EQ(agent->prepare().low_steps, 0U);
    EXPECT_EQ(agent->save(), prepared);
    agent->load(fresh);
    EXPECT_EQ(agent->prepare().low_steps, steps);
    EXPECT_EQ(agent->save(), prepared);
  });
}

TEST(VectorAgentConformance, SavedInTheMiddleItContinuesWithTheSameBits) {
  const VectorProblem problem = small_problem();
  for_all_kinds([&](const AgentKind& kind) {
    const auto whole = make(kind, problem, 5), first = make(kind, problem, 5),
               second = make(kind, problem, 5);
    whole->prepare();
    train(problem, *whole, 5, 4);
    first->prepare();
    train(problem, *first, 5, 2);
    const auto bytes = first->save();
    second->prepare();
    train(problem, *second, 6, 1);  // must be forgotten
    second->load(bytes);
    EXPECT_EQ(second->episodes(), 2U);
    EXPECT_EQ(second->save(), bytes);
    train(problem, *second, 5, 4);
    EXPECT_EQ(second->save(), whole->save());
    EXPECT_EQ(second->artifact(), whole->artifact());
  });
}

TEST(VectorAgentConformance, SameBitsOnOneAndTwoThreads) {
  const VectorProblem problem = small_problem();
  for_all_kinds([&](const AgentKind& kind) {
    const auto run_all = [&](unsigned threads) {
      std::vector<std::vector<std::byte>> states(3);
      parallel_for(states.size(), threads, [&](std::size_t i) {
        const auto agent = make(kind, problem, i);
        agent->prepare();
        train(problem, *agent, i, 2);
        states[i] = agent->save();
      });
      return states;
    };
    const auto one = run_all(1);
    EXPECT_EQ(one, run_all(2));
    EXPECT_NE(one[0], one[1]);  // seeds differ
  });
}

TEST(VectorAgentConformance, ABadStateIsRefusedAndChangesNothing) {
  const VectorProblem problem = small_problem();
  for_all_kinds([&](const AgentKind& kind) {
    const auto agent = make(kind, problem, 5);
    agent->prepare();
    train(problem, *agent, 5, 2);
    const auto good = agent->save();
    for (std::size_t cut = 0; cut < good.size(); cut += 1 + good.size() / 40)
      EXPECT_THROW(agent->load(std::span(good).first(cut)), Error);
    for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 40) {
      auto bad = good;
      bad[at] ^= std::byte{0x10};
      EXPECT_THROW(agent->load(bad), Error);
    }
    EXPECT_EQ(agent->save(), good);
    EXPECT_THROW(make(kind, problem, 6)->load(good), Error);
  });
}

}  // namespace
}  // namespace hilo
