#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hilo/core/stamp_set.hpp"
#include "hilo/env/episode.hpp"

namespace hilo {

// Finds the steps of an episode at which a pair (s, a) occurs for the first time, in O(length).
class FirstVisits {
 public:
  FirstVisits(std::size_t num_states, std::size_t num_actions)
      : num_actions_(num_actions), seen_(num_states * num_actions) {}

  // The steps, rising. Valid until the next call.
  std::span<const std::uint32_t> find(const Episode& episode) {
    seen_.clear();
    steps_.clear();
    for (std::uint32_t t = 0; t < episode.length(); ++t)
      if (seen_.insert(episode.states[t] * num_actions_ + episode.actions[t])) steps_.push_back(t);
    return steps_;
  }

  std::size_t size() const { return steps_.size(); }  // number of steps in the last result of find

 private:
  std::size_t num_actions_;
  StampSet seen_;
  std::vector<std::uint32_t> steps_;
};

}  // namespace hilo
