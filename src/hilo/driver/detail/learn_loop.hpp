#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hilo/driver/detail/controlled_test.hpp"
#include "hilo/driver/learner.hpp"

// For the sources of this folder only: the run of a learner, in either domain.
namespace hilo {

// An expensive episode as it was played, well or not. What there was of one that failed is here,
// too.
struct PlayedEpisode {
  PaidEpisode paid;
  std::optional<double> cost = {};  // that the simulator reported, if it did
  std::optional<std::string> failure = {};
};

// An agent with its training loop and its simulators, for tables or for vectors. Requests that it
// gives have no address and no attempt: these are the learner's.
class LearnLoop {
 public:
  // For the only agent of the spec.
  static std::unique_ptr<LearnLoop> make(const Spec& spec, std::uint64_t seed);
  LearnLoop() = default;
  LearnLoop(const LearnLoop&) = delete;
  LearnLoop& operator=(const LearnLoop&) = delete;
  virtual ~LearnLoop() = default;

  // The next episode of training, or one of the next `lag`. Before the first one the agent
  // prepares.
  virtual LearnRequest ask(std::uint64_t ahead = 0) = 0;
  // An episode of the greedy policy.
  virtual LearnRequest test(const StreamAddress& streams, const Horizon& horizon) const = 0;

  virtual PlayedEpisode play(const LearnRequest& request) const = 0;
  // Adds the return and the probabilities of actions to an episode, whole or not.
  virtual void complete(const LearnRequest& request, PaidEpisode& paid) const = 0;
  // Throws Errc::simulator unless the episode is one of this problem.
  virtual void check(const PaidEpisode& paid) const = 0;
  // Whether the actions are those of the policy.
  virtual bool follows(const LearnRequest& request, const PaidEpisode& paid) const = 0;

  // The episode that was asked for.
  virtual void tell(const PaidEpisode& paid) = 0;
  virtual void skip() = 0;
  virtual void stop() = 0;

  virtual const Agent& agent() const = 0;
  virtual const AnySimulator& high() const = 0;
  virtual std::size_t num_workers() const = 0;
  virtual std::optional<OwnValue> own_value() const = 0;
  virtual std::uint64_t low_steps() const = 0;
  virtual std::uint64_t dropped() const = 0;

  // The final test with the help of the cheap simulators. `first` is the request of its first
  // episode; `cost_ratio` is as for run_controlled_test.
  virtual ControlledTest sharpen(std::span<const TestEpisode> tests, const LearnRequest& first,
                                 double cost_ratio) const = 0;

  virtual bool can_be_saved() const = 0;
  virtual std::vector<std::byte> save() const = 0;
  virtual void load(std::span<const std::byte> bytes) = 0;

  // The run of a table, for what only tables have; null in the domain of vectors.
  virtual const SingleRun* table() const { return nullptr; }
};

// The length of a path in either domain.
std::size_t length_of(const PaidEpisode& paid);

}  // namespace hilo
