#pragma once

#include <memory>

#include "hilo/env/simulator.hpp"

namespace hilo {

// Runs episodes one step at a time with actions that the caller chooses, to offer a simulator as an
// environment with `reset` and `step`. Step t of episode k draws from the same words as step t of
// run_episode with this seed, Purpose::user and episode k.
class Walker {
 public:
  explicit Walker(std::shared_ptr<const Simulator> simulator, std::uint64_t seed = 0);

  const Simulator& simulator() const { return *simulator_; }
  State state() const { return state_; }
  std::uint32_t steps() const { return steps_; }  // of this episode
  std::uint64_t seed() const { return seed_; }

  // Switches to the streams of another seed, from its first episode on.
  void set_seed(std::uint64_t seed);

  // Starts the next episode, at a state drawn from the start distribution or at a given one.
  State reset();
  void reset_to(State s);

  // Throws before the first reset, and after the end of an episode.
  Step step(Action a);

 private:
  StreamAddress streams(std::uint32_t episode) const {
    return {.seed = seed_, .purpose = Purpose::user, .episode = episode};
  }
  void begin(State s);

  std::shared_ptr<const Simulator> simulator_;
  std::uint64_t seed_;
  std::uint32_t next_episode_ = 0;
  std::uint32_t steps_ = 0;
  State state_ = 0;
  bool running_ = false;
};

}  // namespace hilo
