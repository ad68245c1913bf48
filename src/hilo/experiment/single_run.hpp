#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hilo/env/simulator.hpp"
#include "hilo/experiment/resumable_run.hpp"
#include "hilo/experiment/spec.hpp"
#include "hilo/experiment/training_domain.hpp"

namespace hilo {

class HighFidelity;
class TabularAgent;
struct PlannedRun;

// A request for a high-fidelity episode that the caller runs.
struct TabularRequest {
  std::uint64_t number = 0;  // counted from 0
  Behaviour policy;          // a view, valid until tell or load
  StreamAddress streams;
  Horizon horizon;

  // For callers that run it one step at a time: the action of step t, counted from 0, in state s,
  // and a seed below 2^31 for a simulator of their own.
  Action action(std::uint32_t t, State s) const;
  std::uint32_t simulator_seed() const;
};

// One run: a configuration of a spec with a seed, its problem, its agent, and the training loop. It
// can be saved after any step and continued later, here or elsewhere, with the same bits.
class SingleRun : public ResumableRun {
 public:
  // For the agent with this label, which may be "" if the spec has only one. Builds the problem.
  SingleRun(const Spec& spec, std::string_view label, std::uint64_t seed);
  // On an existing problem, which must outlive it.
  SingleRun(const PlannedRun& run, const HighFidelity& high, const Problem& problem);
  SingleRun(SingleRun&&) noexcept;
  SingleRun& operator=(SingleRun&&) noexcept;
  ~SingleRun() override;

  bool step() override;
  bool is_done() const override;
  double share() const override;
  const EpisodeSimulator& high() const { return *shared_high(); }
  const std::shared_ptr<const EpisodeSimulator>& shared_high() const;

  // Ask and tell, for callers that run the episodes themselves. With a lag, the next `lag` episodes
  // can be asked for; they are told one after the other.
  TabularRequest ask();
  TabularRequest ask_ahead(std::uint64_t ahead);
  void tell(const Episode& episode);
  bool has_open_request() const;  // asked for, but not told yet
  // Passes over the requested episode, which cannot be had.
  void skip();
  // Ends training, whatever is left of the budget.
  void stop();

  const Fidelities& fidelities() const;
  // The greedy policy. A view, valid until the next step, tell or load.
  Behaviour greedy() const;
  const TabularAgent& agent() const;
  // The agent's own estimate of the value of its greedy policy; nothing if it has none, or if tests
  // tell more.
  std::optional<OwnValue> own_value() const;
  std::uint64_t low_steps() const;  // so far
  std::uint64_t dropped() const;    // episodes that were cut and left out, so far

  const std::vector<Measurement>& measurements() const;
  RunRecord record() const override;

  bool can_be_saved() const override;
  std::vector<std::byte> save() const override;
  void load(std::span<const std::byte> bytes) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
