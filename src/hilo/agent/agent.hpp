#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hilo/env/policy.hpp"
#include "hilo/env/run_observer.hpp"
#include "hilo/policy/artifact.hpp"

namespace hilo {

// What one call of learn() did, for records and budgets.
struct LearnReport {
  double variance_ratio = 1;    // mean of 1 - rho^2 over the updated pairs; 1: nothing was gained
  double correlation_sum = 0;   // sum of rho over the updated pairs that had a correction
  std::uint64_t corrected = 0;  // number of these pairs
  std::uint64_t low_steps = 0;
  std::uint64_t truncated_rollouts = 0;  // low-fidelity roll-outs cut by max_steps
  bool dropped = false;                  // the episode was cut and not learnt from
};

// An agent has a policy that acts and a function that updates it. That function, learn(episode),
// belongs to a subclass for one type of episodes (tabular_agent.hpp). An agent owns no training
// loop and no high-fidelity simulator: the caller gives it full episodes made with its policy.
class Agent {
 public:
  Agent() = default;
  virtual ~Agent() = default;

  // The policy for the next episode, and the greedy policy of what was learnt so far. Both are
  // views, valid until the agent learns or is loaded.
  virtual std::unique_ptr<const Policy> policy() const = 0;
  virtual std::unique_ptr<const Policy> greedy_policy() const = 0;

  // The greedy policy as it is stored.
  virtual PolicyArtifact artifact() const = 0;

  // Work before the first episode, in the low fidelity only. A second call does nothing. learn()
  // does this work if prepare() was not called before.
  virtual LearnReport prepare() { return {}; }

  virtual std::uint64_t episodes() const = 0;  // learnt from so far, dropped ones included

  // Whether save() works. A user's agent may lack it, and then has no checkpoints.
  virtual bool can_be_saved() const { return true; }

  // Numbers for the records that only this kind of agent has.
  virtual std::vector<Fact> findings() const { return {}; }

  // What its user should know about the learning that is over, as sentences without an end: whether
  // the cheap simulator was of use, say.
  virtual std::vector<std::string> remarks() const { return {}; }

  // The whole state, so that an agent of the same kind, options and seed continues with the same
  // bits. If the bytes are not such a state, load() throws and changes nothing.
  virtual std::vector<std::byte> save() const = 0;
  virtual void load(std::span<const std::byte> bytes) = 0;

 protected:
  Agent(const Agent&) = default;
  Agent& operator=(const Agent&) = default;
};

}  // namespace hilo
