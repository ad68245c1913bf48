#pragma once

#include <span>

#include "hilo/core/columns.hpp"
#include "hilo/env/any_simulator.hpp"
#include "hilo/env/behaviour.hpp"

namespace hilo {

// The two random words of a step from which an action is drawn (docs/streams.md). They make a
// policy a pure function: the same words give the same action, in any programming language.
struct ActionWords {
  std::uint32_t explore = 0, action = 0;
};

inline ActionWords draw_action_words(Rng& rng) {
  const std::uint32_t explore = rng.u32();
  return {.explore = explore, .action = rng.u32()};
}

// A policy acts on observations. Simulators call it, with many observations at once.
class Policy {
 public:
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  const Space& observation_space() const { return observations_; }
  const Space& action_space() const { return actions_; }

  // A path begins, and this thread asks for its actions one after the other until the next one
  // begins. Only a policy with a memory of its own, such as a program, needs to know; the seed,
  // below 2^31, is for its own random numbers.
  virtual void begin_path(std::uint32_t /*seed*/) const {}
  virtual void end_path() const noexcept {}

  // False if it remembers what it has seen: then it cannot run several paths at the same time.
  virtual bool is_memoryless() const { return true; }
  // False if its actions do not depend on the words, which need not be drawn then.
  virtual bool is_random() const { return true; }

  // Overwrites `actions` with one action for each observation, each drawn from its own words.
  virtual void act(const Points& observations, std::span<const ActionWords> words,
                   Points& actions) const = 0;
  // The same for observations and actions that are columns, as simulators that advance many paths
  // together have them; a discrete action is its index, as a number. Actions have as many columns
  // as observations.
  virtual void act_columns(const Columns& observations, std::span<const ActionWords> words,
                           Columns& actions) const;

  // The policy as a table, which tabular simulators execute without a call for every step; null if
  // it is not a table. The result is a view.
  virtual const Behaviour* table() const { return nullptr; }

 protected:
  Policy(Space observations, Space actions)
      : observations_(std::move(observations)), actions_(std::move(actions)) {}

 private:
  Space observations_, actions_;
};

// A path of a policy: tells it where it begins and ends.
class PolicyPath {
 public:
  PolicyPath(const Policy& policy, std::uint32_t seed) : policy_(policy) {
    policy_.begin_path(seed);
  }
  PolicyPath(const PolicyPath&) = delete;
  PolicyPath& operator=(const PolicyPath&) = delete;
  ~PolicyPath() { policy_.end_path(); }

 private:
  const Policy& policy_;
};

}  // namespace hilo
