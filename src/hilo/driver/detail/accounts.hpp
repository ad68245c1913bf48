#pragma once

#include <map>
#include <optional>
#include <string>

#include "hilo/core/stopwatch.hpp"
#include "hilo/driver/detail/learn_checkpoint.hpp"
#include "hilo/driver/learner.hpp"

// For the sources of this folder only: what a learn run has spent, and what it may still spend.
namespace hilo {

// The budget's decisions are functions of the journal and of the cheap steps, except for the wall
// time, which may stop a run but decides nothing else.
//
// Costs that are not declared are seconds. The first episodes are charged what they took; then the
// seconds of a step of either simulator are frozen and written to the journal, because rates that
// changed for ever would make what is decided depend on the machine's mood.
class Accounts {
 public:
  Accounts(const LearnSpec& spec, Journal& journal, std::int64_t run);

  // Whether one more training episode fits, if the final test is still to be paid.
  bool may_train(std::uint64_t low_steps) const;
  // Whether one more episode of the final test fits, after `tests` of them.
  bool may_test(std::uint64_t tests, std::uint64_t low_steps) const;
  // With a lag these decide instead, by what was spent on the episodes that were learnt from: what
  // others have cost is known at a time that depends on the machine. `started` counts the
  // training episodes that may run already, reused ones included.
  bool may_start(std::uint64_t started, std::uint64_t low_steps) const;
  bool may_start_test(const EpisodeAddress& at, std::uint64_t low_steps) const;
  // An episode is learnt from, given up or tested: what its attempts have cost counts from now on.
  void settle(const std::vector<Attempt>& attempts);
  // What had been spent on the episodes that were settled, and on older tests.
  Allowed settled(std::uint64_t episode, std::uint64_t low_steps) const;

  // Which limit other than that of episodes is reached; "" if none is. For retries.
  std::string limit_of_retries(std::uint64_t low_steps) const;
  std::string limit_reached(std::uint64_t low_steps) const;

  // About how many training episodes the budget is good for, by what they have cost so far. A limit
  // of wall time does not count, because nothing may depend on it.
  std::uint64_t planned_training(std::uint64_t low_steps) const;

  // The limit that is given first, of episodes, steps, cost and wall.
  std::string first_limit() const;

  // An attempt begins, or began at this time of another process (seconds since 1970).
  void begin_attempt(std::optional<double> asked_at = std::nullopt);
  // Sets cost, source, times and the cheap work before it. `seconds` is what it took, if that is
  // not the time since begin_attempt. Throws Errc::data if the reported cost is negative or not
  // finite.
  void price(Attempt& attempt, std::optional<double> reported,
             std::optional<double> seconds = std::nullopt) const;
  // Adds an attempt that is in the journal to what is spent.
  void add(const Attempt& attempt);
  // Cheap work was done: how long it took, and all cheap steps so far. Work that is only repeated
  // from the journal does not count again.
  void worked(double seconds, std::uint64_t low_steps);
  void skipped() { ++skipped_; }
  void recovered() { --skipped_; }  // an episode that was given up has succeeded after all
  // Freezes the measured costs once there are enough episodes, or now.
  void freeze(std::uint64_t low_steps, bool now = false);
  // Writes down the clock, and the cheap steps of a run that is done.
  void close(std::uint64_t low_steps, bool done);

  Bill bill(std::uint64_t low_steps) const;
  double share(std::uint64_t low_steps) const;

 private:
  double cost(std::uint64_t low_steps) const;
  double low_cost(std::uint64_t low_steps) const;
  double clock() const { return clock_before_ + seconds_since(opened_); }
  bool measures() const { return !spec_.costs.any(); }
  std::uint64_t episodes() const { return spent_.training + spent_.testing + skipped_; }

  const LearnSpec& spec_;
  Journal& journal_;
  std::int64_t run_;
  Spent spent_;
  std::uint64_t skipped_ = 0;
  // What was spent on episodes up to the last one that was settled.
  struct Settled {
    std::uint64_t episodes = 0;  // of training, those that were given up among them
    std::uint64_t training = 0, training_steps = 0, steps = 0;
    double training_cost = 0, cost = 0;
  };
  Settled settled_;
  // Tests that were in the journal at the beginning, by the number of training episodes before
  // them: those of earlier budgets are spent, too.
  struct OlderTests {
    std::uint64_t episodes = 0, steps = 0;
    double cost = 0;
  };
  std::map<std::uint64_t, OlderTests> older_tests_;
  OlderTests tests_before(std::uint64_t end) const;
  std::uint64_t pilot_ = 0;  // training episodes of the pilot that succeeded
  double clock_before_ = 0;  // wall seconds of earlier processes, and outside of hilo
  SteadyClock::time_point opened_ = SteadyClock::now();
  SteadyClock::time_point attempt_began_ = SteadyClock::now();
  double attempt_seconds_before_ = 0;  // of the attempt, in earlier processes and outside
  std::optional<double> high_second_, low_second_;  // measured seconds of a step, once frozen
};

}  // namespace hilo
