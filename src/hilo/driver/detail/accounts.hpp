#pragma once

#include <optional>
#include <string>

#include "hilo/core/stopwatch.hpp"
#include "hilo/driver/learner.hpp"

// For the sources of this folder only: what a learn run has spent, and what it may still spend.
namespace hilo {

// The budget's decisions are functions of the journal and of the cheap steps, except for the wall
// time, which may stop a run but decides nothing else.
class Accounts {
 public:
  Accounts(const LearnSpec& spec, Journal& journal, std::int64_t run);

  // Whether one more training episode fits, if the final test is still to be paid.
  bool may_train(std::uint64_t low_steps) const;
  // Whether one more episode of the final test fits, after `tests` of them.
  bool may_test(std::uint64_t tests, std::uint64_t low_steps) const;

  void begin_attempt();
  // Sets cost, source, seconds and clock of the attempt and adds it to what is spent.
  void charge(Attempt& attempt, std::optional<double> reported);
  // After an episode was learnt from: how long that took, and all cheap steps so far.
  void learnt(double seconds, std::uint64_t low_steps);
  void skipped() { ++skipped_; }
  // Writes down the cheap steps of a run that is done.
  void close(std::uint64_t low_steps);

  Bill bill(std::uint64_t low_steps) const;
  double share(std::uint64_t low_steps) const;
  std::string limit_reached(std::uint64_t low_steps) const;

 private:
  double cost(std::uint64_t low_steps) const;
  double clock() const { return clock_before_ + seconds_since(opened_); }
  double low_step_cost() const;
  std::uint64_t episodes() const { return spent_.training + spent_.testing + skipped_; }
  void freeze(std::uint64_t low_steps);

  const LearnSpec& spec_;
  Journal& journal_;
  std::int64_t run_;
  Spent spent_;
  std::uint64_t skipped_ = 0;
  double clock_before_ = 0;  // wall seconds of earlier processes
  SteadyClock::time_point opened_ = SteadyClock::now();
  SteadyClock::time_point attempt_began_ = SteadyClock::now();
  std::optional<double> high_second_, low_second_;  // measured seconds of a step, once frozen
  double low_seconds_ = 0;                          // of learning in this process
  std::uint64_t low_steps_before_ = 0;              // at the first time that learning was measured
  bool has_low_start_ = false;
};

}  // namespace hilo
