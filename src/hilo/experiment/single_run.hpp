#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hilo/env/simulator.hpp"
#include "hilo/experiment/records.hpp"
#include "hilo/experiment/spec.hpp"

namespace hilo {

class HighFidelity;
struct PlannedRun;

// An expensive episode that is to be made by somebody else.
struct TabularRequest {
  std::uint64_t number = 0;  // counted from 0
  Behaviour policy;          // a view, valid until tell or load
  StreamAddress streams;
  Horizon horizon;

  // For those who make it one step at a time: the action of step t, counted from 0, in state s, and
  // a seed below 2^31 for a simulator of their own.
  Action action(std::uint32_t t, State s) const;
  std::uint32_t simulator_seed() const;
};

// One run under way: a configuration of a spec with a seed, its problem, its agent, and the loop
// between them. It can be left after any step and taken up again, here or elsewhere, with the same
// bits.
class SingleRun {
 public:
  // The agent of this label; "" where the spec has only one. Builds the problem.
  SingleRun(const Spec& spec, std::string_view label, std::uint64_t seed);
  // On a problem that is there already, and that must outlive it.
  SingleRun(const PlannedRun& run, const HighFidelity& high, const Problem& problem);
  SingleRun(SingleRun&&) noexcept;
  SingleRun& operator=(SingleRun&&) noexcept;
  ~SingleRun();

  // The next piece of work; true when all is done.
  bool step();
  bool is_done() const;
  double share() const;  // of the budget that is spent
  const EpisodeSimulator& high() const { return *shared_high(); }
  const std::shared_ptr<const EpisodeSimulator>& shared_high() const;

  // Ask and tell: the caller makes the episodes.
  TabularRequest ask();
  void tell(const Episode& episode);
  bool has_open_request() const;  // that was asked for and not yet told

  const std::vector<Measurement>& measurements() const;
  // What goes into a store. The run must be done.
  RunRecord record() const;

  // Whether it is between two pieces of work: not after an agent has thrown in the middle of one.
  bool can_be_saved() const;
  std::vector<std::byte> save() const;
  // Throws, and is of no more use, unless the bytes are a state of the same run.
  void load(std::span<const std::byte> bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
