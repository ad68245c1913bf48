#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/env/simulator.hpp"

namespace hilo::testing {

// Lets an agent learn from the high-fidelity episodes first, ..., last - 1 of a seed.
inline void train(TabularAgent& agent, const EpisodeSimulator& high, std::uint64_t seed,
                  std::uint32_t first, std::uint32_t last, LearnReport* report = nullptr) {
  agent.prepare();
  Episode episode;
  for (std::uint32_t k = first; k < last; ++k) {
    high.run_episode(agent.behaviour(),
                     {.seed = seed, .purpose = Purpose::high_episode, .episode = k},
                     {.max_steps = 10'000}, episode);
    const LearnReport r = agent.learn(episode);
    if (report != nullptr) *report = r;
  }
}

// The paper's y axis: mean over test episodes of the mean reward per step, greedy policy.
inline double test_reward(const TabularAgent& agent, const EpisodeSimulator& high,
                          std::uint64_t seed, std::size_t num_episodes = 200) {
  std::vector<RolloutSummary> summaries(num_episodes);
  high.run_episodes(agent.greedy(),
                    {.seed = seed,
                     .purpose = Purpose::test,
                     .episode = static_cast<std::uint32_t>(agent.episodes())},
                    {.max_steps = 10'000}, summaries);
  double sum = 0;
  for (const RolloutSummary& s : summaries) sum += s.mean_reward();
  return sum / static_cast<double>(num_episodes);
}

}  // namespace hilo::testing
