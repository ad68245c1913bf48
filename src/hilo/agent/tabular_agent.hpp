#pragma once

#include "hilo/agent/agent.hpp"
#include "hilo/env/episode.hpp"
#include "hilo/policy/q_table.hpp"
#include "hilo/policy/table_policy.hpp"

namespace hilo {

// An agent for tables: it has values of all pairs of state and action.
class TabularAgent : public Agent {
 public:
  // The same as policy and greedy_policy, as simulators of tables run them.
  virtual Behaviour behaviour() const = 0;
  Behaviour greedy() const { return q().behaviour(0); }
  // What its low-fidelity roll-outs follow; without states if it makes none.
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

  // The returns of a truncated episode lack what would have come: an agent that learns from returns
  // drops it, and one that learns from single steps uses all of them. If learn throws, the agent
  // must be loaded from a saved state before it is used again.
  virtual LearnReport learn(const Episode& episode) = 0;

  virtual const QTable& q() const = 0;

  // Of q()(s, a), as the agent judges it; infinite where it cannot.
  virtual double standard_error(State s, Action a) const = 0;
};

}  // namespace hilo
