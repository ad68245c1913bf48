#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hilo/env/policy.hpp"
#include "hilo/env/run_observer.hpp"
#include "hilo/policy/artifact.hpp"

namespace hilo {

// What one call of learn did, for records and budgets.
struct LearnReport {
  double variance_ratio = 1;    // mean of 1 - rho^2 over the updated pairs; 1: nothing was gained
  double correlation_sum = 0;   // of rho, over the updated pairs that had a correction,
  std::uint64_t corrected = 0;  // and how many these are
  std::uint64_t low_steps = 0;
  std::uint64_t truncated_rollouts = 0;  // low-fidelity roll-outs cut by max_steps
  bool dropped = false;                  // the episode was cut and taught nothing
};

// A learner: a policy that acts, and a verb that updates it. The verb, learn(episode), belongs to
// the domain of its episodes (tabular_agent.hpp). It owns no loop and no simulator of the high
// fidelity; whoever runs it gives it full episodes made with its policy.
class Agent {
 public:
  Agent() = default;
  virtual ~Agent() = default;

  // How it wants to act in the next episode, and how it would act if it had learnt enough. Views,
  // valid until it learns or is loaded.
  virtual std::unique_ptr<const Policy> policy() const = 0;
  virtual std::unique_ptr<const Policy> greedy_policy() const = 0;

  // What is stored of the greedy one.
  virtual PolicyArtifact artifact() const = 0;

  // Work before the first episode, in the low fidelity alone. Does nothing the second time; learn
  // does it where it was left out.
  virtual LearnReport prepare() { return {}; }

  virtual std::uint64_t episodes() const = 0;  // learnt from so far, dropped ones included

  // Whether save works: an agent of a user may be without it, and then has no checkpoints.
  virtual bool can_be_saved() const { return true; }

  // Numbers worth recording that only this kind of agent has.
  virtual std::vector<Fact> findings() const { return {}; }

  // The whole state, so that an agent of the same kind, options and seed continues with the same
  // bits. load throws and changes nothing unless the bytes are such a state.
  virtual std::vector<std::byte> save() const = 0;
  virtual void load(std::span<const std::byte> bytes) = 0;

 protected:
  Agent(const Agent&) = default;
  Agent& operator=(const Agent&) = default;
};

}  // namespace hilo
