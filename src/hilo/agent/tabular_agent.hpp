#pragma once

#include "hilo/agent/agent.hpp"
#include "hilo/env/episode.hpp"
#include "hilo/policy/q_table.hpp"
#include "hilo/policy/table_policy.hpp"

namespace hilo {

// An agent with a table of values for all pairs of state and action.
class TabularAgent : public Agent {
 public:
  // The same as policy() and greedy_policy(), in the form that tabular simulators use.
  virtual Behaviour behaviour() const = 0;
  Behaviour greedy() const { return q().behaviour(0); }
  // The policy of its low-fidelity roll-outs; it has no states if the agent makes none.
  virtual Behaviour low_behaviour() const { return {}; }

  std::unique_ptr<const Policy> policy() const final {
    return std::make_unique<const TablePolicy>(behaviour());
  }
  std::unique_ptr<const Policy> greedy_policy() const final {
    return std::make_unique<const TablePolicy>(greedy());
  }

  PolicyArtifact artifact() const final {
    return q_table_artifact(q().num_states(), q().num_actions(), q().values());
  }

  // The returns of a truncated episode lack the rewards that would have followed: an agent that
  // learns from returns drops the episode, and one that learns from single steps uses all of them.
  // If learn() throws, the agent must be loaded from a saved state before it is used again.
  virtual LearnReport learn(const Episode& episode) = 0;

  virtual const QTable& q() const = 0;

  // The agent's estimate of the standard error of q()(s, a); infinite if it has none.
  virtual double standard_error(State s, Action a) const = 0;
};

}  // namespace hilo
