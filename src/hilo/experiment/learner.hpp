#pragma once

#include <optional>

#include "hilo/agent/agent.hpp"
#include "hilo/core/archive.hpp"
#include "hilo/env/streams.hpp"

namespace hilo {

// An expensive episode that is to be made. Whoever makes it follows the agent's policy of this
// moment, unless it is one of a pilot study, which follows the uniform policy.
struct EpisodeRequest {
  std::uint64_t number = 0;  // counted from 0
  StreamAddress streams;
  Horizon horizon;
  bool is_pilot = false;
};

// What an expensive episode was, for those who keep the accounts.
struct EpisodeFacts {
  std::uint64_t length = 0;
  bool truncated = false;
  double mean_reward = 0, discounted_return = 0;
};

// What test episodes gave on average, and took in all.
struct TestFacts {
  double reward = 0, discounted_return = 0;
  std::uint64_t steps = 0;
};

// A value and its standard error.
struct OwnValue {
  double value = 0, standard_error = 0;
};

// All that the training loop knows of an agent and its expensive simulator. There is one for each
// domain: TabularLearner for tables.
class Learner {
 public:
  Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  virtual ~Learner() = default;

  virtual Agent& agent() = 0;
  virtual const Agent& agent() const = 0;

  // Makes the episode and keeps it until learn. (Or somebody else makes it: the domain's class
  // takes it then.)
  virtual void play(const EpisodeRequest& request) = 0;
  // What is kept, and what the agent did with it.
  virtual EpisodeFacts facts() const = 0;
  virtual LearnReport learn() = 0;

  virtual TestFacts test(const StreamAddress& streams, const Horizon& horizon,
                         std::uint32_t episodes) = 0;
  // Of the greedy policy, where the distribution behind the expensive simulator is known.
  virtual std::vector<Fact> exact_values(const Horizon& horizon) = 0;
  virtual bool has_model() const = 0;
  // What the agent itself thinks that its greedy policy is worth; nothing where it cannot judge.
  virtual std::optional<OwnValue> own_value() const = 0;
  // What an observer of the problem has to say.
  virtual std::vector<Fact> observed_at_test() { return {}; }
  virtual std::vector<Fact> observed_at_end() { return {}; }

  // The whole state, between any two episodes.
  virtual void save(ArchiveWriter& out) const = 0;
  virtual void load(ArchiveReader& in) = 0;
};

}  // namespace hilo
