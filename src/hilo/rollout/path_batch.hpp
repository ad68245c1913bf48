#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hilo/env/vector_steps.hpp"

namespace hilo {

// Recorded paths of vectors, one after the other: step t of path k is column first[k] + t.
struct PathBatch {
  Columns observations, actions;  // before each step; discrete actions are indices, as numbers
  std::vector<double> rewards;
  std::vector<std::size_t> first = {0};  // size() + 1 of them: the last one is num_steps()

  std::size_t size() const { return first.size() - 1; }
  std::size_t num_steps() const { return rewards.size(); }
  std::size_t length(std::size_t path) const { return first[path + 1] - first[path]; }
};

// Whole episodes as such paths. They have the spaces of a simulator.
PathBatch as_paths(std::span<const VectorEpisode> episodes, const Space& observations,
                   const Space& actions);

// Advances many paths together, each from its own start and with its own stream, until the
// simulator ends them or for max_steps steps. A path also ends before a step that leaves the finite
// numbers, so that a simulation that explodes is a path like any other. The random words of step t
// are those of step t of an episode that an expensive simulator runs at this stream: the policy
// draws the same, and what follows is left to the simulator, which must clamp its states itself.
// Adds the steps that were taken to `steps`.
PathBatch run_paths(const VectorSteps& simulator, const Policy& policy, const Columns& starts,
                    std::span<const Stream> streams, const Horizon& horizon, std::uint64_t& steps);

// Sum of discounted rewards from each step on, path by path.
std::vector<double> returns_to_go(const PathBatch& paths, double gamma);

}  // namespace hilo
