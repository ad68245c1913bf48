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
  std::uint32_t first_pair = 0;     // number of the first pair and of the first roll-out, so that a
  std::uint32_t first_rollout = 0;  // large batch can be asked for in parts with the same results
  std::uint32_t first_step = 0;  // steps of the streams that are skipped: coupled paths start late
  double gamma = 1;
  std::uint32_t max_steps = kMaxSteps;
};

// Throws Errc::usage unless the behaviour fits a simulator of this size and all streams that
// `num_pairs` times `num_rollouts` roll-outs need have an address.
void check_batch(const RolloutBatch& batch, std::size_t num_states, std::size_t num_actions,
                 std::size_t num_pairs, std::size_t num_rollouts);

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

  // Runs one episode with the stream `rollout` = first_rollout and overwrites `episode` by it.
  virtual void run_episode(const RolloutBatch& batch, Episode& episode) const = 0;

  // Runs summaries.size() episodes, the i-th with the stream `rollout` = first_rollout + i.
  virtual void run_episodes(const RolloutBatch& batch,
                            std::span<RolloutSummary> summaries) const = 0;

  // The distribution behind it, or null if it is not known.
  virtual const Model* model() const { return nullptr; }
};

// Takes recorded roll-outs as they come, and says how many more it wants.
class PathVisitor {
 public:
  PathVisitor() = default;
  PathVisitor(const PathVisitor&) = delete;
  PathVisitor& operator=(const PathVisitor&) = delete;
  virtual ~PathVisitor() = default;

  // Roll-outs of pair i that are still wanted, as things stand. A roll-out of any pair may lower
  // it.
  virtual std::uint32_t wanted(std::size_t i) const = 0;
  virtual void see(std::size_t i, const Episode& path) = 0;
};

// A generative simulator: it can be started at any (s, a) and asked for any reward. This is what
// the low fidelity must be.
class Simulator : public EpisodeSimulator {
 public:
  virtual bool is_terminal(State s) const = 0;

  // Starts `rollouts` times at each pair. Roll-out j of starts[i] draws from the stream
  // (pair = first_pair + i, rollout = first_rollout + j) and ends up in summaries[i * rollouts +
  // j]. A terminal start state gives an empty roll-out.
  virtual void roll_out(const RolloutBatch& batch, std::span<const StateAction> starts,
                        std::uint32_t rollouts, std::span<RolloutSummary> summaries) const = 0;

  // The same for one roll-out, (first_pair, first_rollout), with its path.
  virtual void record(const RolloutBatch& batch, StateAction start, Episode& episode) const = 0;

  // Many of them: roll-outs j = 0, 1, ... of starts[0] as long as the visitor wants more, then
  // those of starts[1], and so on. Whether they are made one by one or together shows nowhere.
  virtual void record_paths(const RolloutBatch& batch, std::span<const StateAction> starts,
                            PathVisitor& visitor) const;

  // The reward of a step that may have been taken in another fidelity.
  virtual double reward(State s, Action a, State next) const = 0;
};

}  // namespace hilo
