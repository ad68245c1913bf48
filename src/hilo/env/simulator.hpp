#pragma once

#include <span>

#include "hilo/env/any_simulator.hpp"
#include "hilo/env/behaviour.hpp"
#include "hilo/env/episode.hpp"
#include "hilo/env/streams.hpp"

namespace hilo {

// The domain of tables: an observation is a state 0 to n - 1, and an action is one of a few, given
// by its number.

// A type-erased environment. Each virtual call does work in bulk, so that these calls are rare and
// the loops behind them are compiled for the concrete type.
//
// This class only promises full episodes from the start distribution, which is all that a robot, a
// process or a real system can give, and all that is asked of the high fidelity.
class EpisodeSimulator : public AnySimulator {
 public:
  std::size_t num_states() const { return num_states_; }
  std::size_t num_actions() const { return num_actions_; }

  // Runs one episode with the stream `rollout` = first_rollout and overwrites `episode` with it.
  virtual void run_episode(const Behaviour& policy, const StreamAddress& streams,
                           const Horizon& horizon, Episode& episode) const = 0;

  // Runs summaries.size() episodes, the i-th with the stream `rollout` = first_rollout + i.
  virtual void run_episodes(const Behaviour& policy, const StreamAddress& streams,
                            const Horizon& horizon, std::span<RolloutSummary> summaries) const = 0;

  // How many episodes can run at the same time with some gain.
  virtual std::size_t num_workers() const { return 1; }

  // The exact distributions of the simulator, or null if they are not known.
  virtual const Model* model() const { return nullptr; }

 protected:
  EpisodeSimulator(std::size_t num_states, std::size_t num_actions)
      : AnySimulator(Space::discrete(num_states), Space::discrete(num_actions)),
        num_states_(num_states),
        num_actions_(num_actions) {}

  // Throws Errc::usage unless the policy has the simulator's numbers of states and actions, and all
  // streams have an address.
  void check(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
             std::size_t num_pairs, std::size_t num_rollouts) const;

 private:
  std::size_t num_states_, num_actions_;
};

// Receives recorded roll-outs one by one and says how many more it wants.
class PathVisitor {
 public:
  PathVisitor() = default;
  PathVisitor(const PathVisitor&) = delete;
  PathVisitor& operator=(const PathVisitor&) = delete;
  virtual ~PathVisitor() = default;

  // The number of further roll-outs of pair i that are wanted now. Seeing a roll-out of any pair
  // may lower it.
  virtual std::uint32_t wanted(std::size_t i) const = 0;
  virtual void see(std::size_t i, const Episode& path) = 0;
};

// A generative simulator: it can be started at any (s, a) and asked for any reward. This is what
// the low fidelity must be.
class Simulator : public EpisodeSimulator {
 public:
  virtual bool is_terminal(State s) const = 0;

  // reset returns the start state of the episode at this address. step takes one step from any pair
  // and draws from step first_step + 1 of the stream; its state must not be terminal.
  virtual State reset(const StreamAddress& streams) const = 0;
  virtual Step step(StateAction at, const StreamAddress& streams) const = 0;

  // Starts `rollouts` times at each pair. Roll-out j of starts[i] draws from the stream
  // (pair = first_pair + i, rollout = first_rollout + j) and ends up in summaries[i * rollouts +
  // j]. A terminal start state gives an empty roll-out.
  virtual void roll_out(const Behaviour& policy, const StreamAddress& streams,
                        const Horizon& horizon, std::span<const StateAction> starts,
                        std::uint32_t rollouts, std::span<RolloutSummary> summaries) const = 0;

  // The same for one roll-out, (first_pair, first_rollout), with its path.
  virtual void record(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                      StateAction start, Episode& episode) const = 0;

  // Records many roll-outs: j = 0, 1, ... of starts[0] as long as the visitor wants more, then
  // those of starts[1], and so on. The results are the same whether they are computed one by one or
  // together.
  virtual void record_paths(const Behaviour& policy, const StreamAddress& streams,
                            const Horizon& horizon, std::span<const StateAction> starts,
                            PathVisitor& visitor) const;

  // The reward of a step that may have been taken in another fidelity.
  virtual double reward(State s, Action a, State next) const = 0;
  // Whether reward() is exact. Otherwise it is found by trying steps, which is good enough for a
  // model of the simulator, but not for returns along another simulator's path.
  virtual bool tells_rewards() const { return true; }

 protected:
  using EpisodeSimulator::EpisodeSimulator;

  // Throws Errc::usage unless the start is a pair of this simulator.
  void check_start(StateAction start) const;
  // The same for a single step, whose state must not be terminal.
  void check_step(StateAction at, const StreamAddress& streams) const;
  // The same for all starts. There must be one summary for each start and roll-out.
  void check_starts(std::span<const StateAction> starts, std::uint32_t rollouts,
                    std::span<const RolloutSummary> summaries) const;
};

}  // namespace hilo
