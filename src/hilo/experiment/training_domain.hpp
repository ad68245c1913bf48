#pragma once

#include <optional>

#include "hilo/agent/agent.hpp"
#include "hilo/core/archive.hpp"
#include "hilo/env/episode.hpp"
#include "hilo/env/streams.hpp"

namespace hilo {

// A request for a high-fidelity episode. The episode must follow the agent's policy at the time
// when it was asked for, or the uniform policy if it belongs to a pilot study.
struct EpisodeRequest {
  std::uint64_t number = 0;  // counted from 0
  StreamAddress streams;
  Horizon horizon;
  bool is_pilot = false;
};

// Summary of a high-fidelity episode, for the records of the training loop.
struct EpisodeFacts {
  std::uint64_t length = 0;
  bool truncated = false;
  double mean_reward = 0, discounted_return = 0;
};

// Mean reward and mean return of test episodes, and their steps in total.
struct TestFacts {
  double reward = 0, discounted_return = 0;
  std::uint64_t steps = 0;
};

// Means over test episodes, of which there is at least one.
inline TestFacts facts_of(std::span<const RolloutSummary> summaries) {
  TestFacts facts;
  for (const RolloutSummary& summary : summaries) {
    facts.reward += summary.mean_reward();
    facts.discounted_return += summary.discounted_return;
    facts.steps += summary.steps;
  }
  facts.reward /= static_cast<double>(summaries.size());
  facts.discounted_return /= static_cast<double>(summaries.size());
  return facts;
}

// A value and its standard error, which is infinite if it is unknown.
struct OwnValue {
  double value = 0, standard_error = 0;
};

// The training loop's interface to an agent and its expensive simulator. There is one
// implementation for each domain: TabularDomain for tables.
class TrainingDomain {
 public:
  TrainingDomain() = default;
  TrainingDomain(const TrainingDomain&) = delete;
  TrainingDomain& operator=(const TrainingDomain&) = delete;
  virtual ~TrainingDomain() = default;

  virtual Agent& agent() = 0;
  virtual const Agent& agent() const = 0;

  // Runs the episode and keeps it until learn. (If the caller runs it instead, the domain's class
  // has a function that takes it.)
  virtual void play(const EpisodeRequest& request) = 0;
  // For training with a lag: keeps the policy that the episode must follow, until the agent has
  // learnt from it, and forgets those of episodes before a number.
  virtual void keep_policy(const EpisodeRequest& request) = 0;
  virtual void forget_policies_before(std::uint64_t number) = 0;

  // facts describes the kept episode. learn passes it to the agent and returns the agent's report.
  virtual EpisodeFacts facts() const = 0;
  virtual LearnReport learn() = 0;

  virtual TestFacts test(const StreamAddress& streams, const Horizon& horizon,
                         std::uint32_t episodes) = 0;
  // Exact values of the greedy policy; empty if the expensive simulator has no model.
  virtual std::vector<Fact> exact_values(const Horizon& horizon) = 0;
  virtual bool has_model() const = 0;
  // The agent's own estimate of the value of its greedy policy; nothing if it has none.
  virtual std::optional<OwnValue> own_value() const = 0;
  // What the problem's observer and the user-defined metrics record.
  virtual std::vector<Fact> observed_at_test() { return {}; }
  virtual std::vector<Fact> observed_at_end() { return {}; }

  // The whole state, between any two episodes.
  virtual void save(ArchiveWriter& out) const = 0;
  virtual void load(ArchiveReader& in) = 0;
};

}  // namespace hilo
