#pragma once

#include <span>

#include "hilo/env/behaviour.hpp"
#include "hilo/env/episode.hpp"

namespace hilo {

// Which streams a batch of roll-outs draws from, and when it stops.
struct RolloutBatch {
  Behaviour behaviour;
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::user;
  std::uint32_t episode = 0;
  double gamma = 1;
  std::uint32_t max_steps = kMaxSteps;
};

// An environment seen from outside, its type forgotten. Work comes in bulk, so that a virtual call
// is rare and the loop behind it is compiled for the concrete type.
//
// This class only promises full episodes from the start distribution, which is all that a robot, a
// process or a real system can give, and all that is asked of the high fidelity.
class EpisodeSimulator {
 public:
  EpisodeSimulator() = default;
  EpisodeSimulator(const EpisodeSimulator&) = delete;
  EpisodeSimulator& operator=(const EpisodeSimulator&) = delete;
  virtual ~EpisodeSimulator() = default;

  virtual std::size_t num_states() const = 0;
  virtual std::size_t num_actions() const = 0;
  virtual bool is_terminal(State s) const = 0;

  // Runs one episode with the stream `rollout` of the batch and overwrites `episode` by it.
  virtual void run_episode(const RolloutBatch& batch, std::uint32_t rollout,
                           Episode& episode) const = 0;

  // Runs summaries.size() episodes, the i-th with the stream `rollout` = i.
  virtual void run_episodes(const RolloutBatch& batch,
                            std::span<RolloutSummary> summaries) const = 0;

  // The distribution behind it, or null if it is not known.
  virtual const Model* model() const { return nullptr; }
};

// A generative simulator: it can be started at any (s, a) and asked for any reward. This is what
// the low fidelity must be.
class Simulator : public EpisodeSimulator {
 public:
  // Starts `rollouts` times at each pair. Roll-out j of starts[i] draws from the stream
  // (pair = i, rollout = j) and ends up in summaries[i * rollouts + j]. A terminal start state
  // gives an empty roll-out.
  virtual void roll_out(const RolloutBatch& batch, std::span<const StateAction> starts,
                        std::uint32_t rollouts, std::span<RolloutSummary> summaries) const = 0;

  // The same for one roll-out, with its path.
  virtual void record(const RolloutBatch& batch, StateAction start, std::uint32_t pair,
                      std::uint32_t rollout, Episode& episode) const = 0;

  // The reward of a step that may have been taken in another fidelity.
  virtual double reward(State s, Action a, State next) const = 0;
};

}  // namespace hilo
