#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/core/version.hpp"
#include "hilo/driver/detail/accounts.hpp"
#include "hilo/driver/detail/arrival_files.hpp"
#include "hilo/driver/detail/controlled_test.hpp"
#include "hilo/driver/detail/flights.hpp"
#include "hilo/driver/detail/learn_checkpoint.hpp"
#include "hilo/driver/detail/learn_loop.hpp"
#include "hilo/driver/detail/paid_before.hpp"
#include "hilo/driver/detail/pilot_judge.hpp"

// For learner.cpp only: the state of a learn run, and how it catches up with its journal.
namespace hilo {

inline constexpr const char* kTestedAfter = "training episodes before the final test";
inline constexpr std::uint64_t kHopelessCuts = 20;  // first episodes that were all dropped
inline constexpr const char* kAskedAt = "when an episode was asked for";

// 1, 2, 5, 10, 20, 50, ...: few, however long a run is.
inline bool is_milestone(std::uint64_t episode) {
  while (episode >= 10 && episode % 10 == 0) episode /= 10;
  return episode == 1 || episode == 2 || episode == 5;
}

struct Learner::Impl {
  Impl(LearnSpec its_spec, LearnFiles its_files, RemoteWorkers* its_remote)
      : remote(its_remote),
        spec(std::move(its_spec)),
        files(std::move(its_files)),
        journal(Journal::open(files.journal, files.durable)),
        run(begin_run(spec, files, journal)),
        pilot(spec, journal, run),
        loop(new_loop()),
        accounts(spec, journal, run),
        checkpoint(files.checkpoint(), files.checkpoint_every),
        arrived(files.arrived(), fmt::format("{} {}", spec.identity.hash(), spec.seed),
                files.durable) {
    notes = spec.spec.notes;
    const Spent spent = journal.spent(run);
    last_training = spent.last_training;
    if (lag() == 1) failed_in_a_row = spent.failed_in_a_row;
    load_checkpoint();
  }

  // If the pilot has dropped the cheap simulator, everything is learnt without it from the first
  // episode on: the pilot's own episodes follow the uniform policy, so that they are the same.
  std::unique_ptr<LearnLoop> new_loop() const {
    return LearnLoop::make(pilot.is_dropped() ? *spec.without_low : spec.spec, spec.seed);
  }

  // Of the agent, and of the judgement of the pilot.
  std::uint64_t low_steps() const { return loop->low_steps() + pilot.low_steps(); }

  // Checkpoints only save time. One that is missing, damaged, of another program or ahead of the
  // journal is not used, and everything is learnt again from the journal.
  void load_checkpoint() {
    const auto saved = files.use_checkpoint ? checkpoint.find() : std::nullopt;
    if (!saved) return;
    try {
      if (saved->identity != spec.identity.hash() || saved->seed != spec.seed ||
          saved->digest != journal.digest(run, saved->episodes) ||
          (lag() > 1 && saved->budget != budget_text()))
        return;
      loop->load(saved->run);
      next_training = saved->episodes;
      findings = saved->findings;
      training_until = saved->training_until;
      training_closed = saved->training_closed;
      failed_in_a_row = lag() > 1 ? saved->failed_in_a_row : failed_in_a_row;
      for (const auto& [episode, before] : saved->allowed) allowed[{.episode = episode}] = before;
      for (std::uint64_t episode = 0; lag() > 1 && episode < next_training; ++episode)
        accounts.settle(journal.attempts_at(run, {.episode = episode}));
    } catch (const Error&) {
      loop.reset();  // its programs end before others are started
      loop = new_loop();
      next_training = 0;
    }
  }

  void keep_checkpoint(bool now) {
    if (!files.use_checkpoint || !loop->can_be_saved() || phase != Phase::training) return;
    checkpoint.keep(now, [&] {
      return LearnCheckpoint{.identity = spec.identity.hash(),
                             .seed = spec.seed,
                             .episodes = next_training,
                             .digest = journal.digest(run, next_training),
                             .run = loop->save(),
                             .findings = findings,
                             .budget = budget_text(),
                             .training_until = training_until,
                             .training_closed = training_closed,
                             .failed_in_a_row = failed_in_a_row,
                             .allowed = allowed_ahead()};
    });
  }

  // Decisions about a lag were made for one budget; for another they are made anew, in order.
  std::string budget_text() const {
    return fmt::format("{} {} {:.17g} {}", spec.budget.episodes, spec.budget.steps,
                       spec.budget.cost, spec.reserved_episodes().value_or(~std::uint64_t{0}));
  }

  std::vector<std::pair<std::uint64_t, Allowed>> allowed_ahead() const {
    std::vector<std::pair<std::uint64_t, Allowed>> out;
    for (const auto& [at, before] : allowed)
      if (at.episode >= next_training && !at.test) out.emplace_back(at.episode, before);
    return out;
  }

  enum class Phase : std::uint8_t { training, testing, done };

  // Learns again from all episodes that were paid for and decides what comes next: whatever is in
  // the journal is used, and only what is not there is asked of the budget.
  void catch_up(const std::function<bool()>& keep_going = {}) {
    const auto goes_on = [&] { return !keep_going || keep_going(); };
    while (phase == Phase::training) {
      judge_pilot();
      decide_ahead();
      if (attempts().empty() || !take(attempts())) break;
      if (flights) record_arrived();
      if (!goes_on()) return;
    }
    if (phase == Phase::training && is_training_over()) {
      keep_checkpoint(true);  // for a budget that is extended later
      stopped_by = accounts.limit_reached(low_steps());
      if (stopped_by.empty()) stopped_by = accounts.first_limit();
      phase = Phase::testing;
      was_closed = journal.decided(run, kTestedAfter) == static_cast<double>(next_training);
      loop->stop();
    }
    while (phase == Phase::testing && goes_on()) {
      decide_ahead();
      if (!attempts().empty() && take(attempts())) continue;
      if (may_go_on_testing()) return;
      phase = Phase::done;
      sharpen_test();
      accounts.close(low_steps(), true);
      if (lag() > 1) arrived.remove();
      journal.decide(run, kTestedAfter, static_cast<double>(next_training));
    }
  }

  // The cheap simulators that the agent was given help to judge its policy, too.
  void sharpen_test() {
    const Bill bill = accounts.bill(low_steps());
    if (pilot.is_dropped() || bill.low_steps == 0 || bill.steps == 0) return;
    const double low_step = bill.low_cost / static_cast<double>(bill.low_steps);
    controlled = loop->sharpen(
        tests, test_request(0),
        low_step > 0 ? bill.high_cost / static_cast<double>(bill.steps) / low_step : 0);
  }

  void judge_pilot() {
    if (pilot.is_judged() || next_training != spec.pilot_episodes) return;
    double seconds = 0;
    {
      const Stopwatch watch(seconds);
      pilot.judge(loop->table()->fidelities(), loop->low_steps(),
                  accounts.planned_training(low_steps()));
    }
    accounts.worked(seconds, low_steps());
    if (!pilot.is_dropped()) return;
    loop.reset();  // its programs end before others are started
    loop = new_loop();
    next_training = 0;
  }

  std::uint64_t lag() const {
    return static_cast<std::uint64_t>(spec.config().train.integer("lag"));
  }

  // With a lag: decides which of the next episodes may run, by what was learnt and spent `lag`
  // episodes before each, so that the machine's mood decides nothing.
  void decide_ahead() {
    if (lag() == 1 || phase == Phase::done) return;
    const bool testing = phase == Phase::testing;
    std::uint64_t& until = testing ? tests_until : training_until;
    const std::uint64_t next = testing ? next_test : next_training;
    for (until = std::max(until, next); !is_closed(testing) && until < next + lag();) {
      const bool may =
          testing ? accounts.may_start_test({.episode = next_training, .test = until}, low_steps())
                  : (last_training && *last_training >= until) ||
                        accounts.may_start(until, low_steps());
      const EpisodeAddress at = testing ? EpisodeAddress{.episode = next_training, .test = until}
                                        : EpisodeAddress{.episode = until};
      allowed.try_emplace(at, accounts.settled(at.episode, low_steps()));
      if (may)
        ++until;
      else
        (testing ? tests_closed : training_closed) = true;
    }
  }
  bool is_closed(bool testing) const { return testing ? tests_closed : training_closed; }

  bool is_training_over() const {
    return lag() == 1 ? !may_go_on_training() : training_closed && next_training >= training_until;
  }

  bool may_go_on_testing() {
    if (lag() > 1) return next_test < tests_until;
    return attempts().empty() ? accounts.may_test(next_test, low_steps())
                              : accounts.limit_of_retries(low_steps()).empty();
  }

  // An episode that is missing between others is made again, whatever the budget says: what was
  // paid for behind it could not be used otherwise. A retry only needs what is left of the budget.
  bool may_go_on_training() const {
    if (last_training && *last_training > next_training) return true;
    return found.empty() ? accounts.may_train(low_steps())
                         : accounts.limit_of_retries(low_steps()).empty();
  }

  // What the journal has of the next episode.
  const std::vector<Attempt>& attempts() {
    if (looked_up != address()) {
      found = journal.attempts_at(run, address());
      looked_up = address();
    }
    return found;
  }

  void append(const Attempt& attempt) {
    journal.append(run, attempt);
    looked_up.reset();
    accounts.add(attempt);
  }

  // Takes what the journal has of the next episode: true if that settles it.
  bool take(const std::vector<Attempt>& of_episode) {
    const Attempt last = of_episode.back();
    if (last.failed) {
      // Where failures stop the run, the user has seen the error and wants another attempt.
      if (!is_given_up(last.at, of_episode)) return false;
      // A test that failed before the run was stopped gets another attempt.
      if (phase == Phase::testing && !was_closed && lag() == 1) return false;
      accounts.settle(of_episode);
      pass_over();
      // What was counted before this process has stopped a run before.
      if (lag() > 1 && recorded.contains(last.at))
        count_given_up(last.error);
      else if (lag() > 1)
        ++failed_in_a_row;
      return true;
    }
    if (lag() > 1) {
      accounts.settle(of_episode);
      failed_in_a_row = 0;
    }
    if (phase == Phase::testing) {
      tests.push_back({next_test, last.paid.discounted_return});
      ++next_test;
      return true;
    }
    const LearnRequest request = ask_loop();
    loop->check(last.paid);
    if (!last.is_reused() && !loop->follows(request, last.paid)) ++other_actions;
    if (last_training && next_training <= *last_training) ++replayed;
    learn(last.paid);
    return true;
  }

  void learn(const PaidEpisode& paid) {
    double seconds = 0;
    {
      const Stopwatch watch(seconds);
      loop->tell(paid);
    }
    ++next_training;
    accounts.worked(seconds, low_steps());
    if (is_milestone(next_training))
      for (const Fact& fact : loop->agent().findings())
        findings.push_back({next_training, fact.name, fact.value});
  }

  // The next request of training. Before the first one the agent prepares.
  LearnRequest ask_loop() {
    double seconds = 0;
    std::optional<LearnRequest> request;
    {
      const Stopwatch watch(seconds);
      request = loop->ask();
    }
    accounts.worked(seconds, low_steps());
    return *request;
  }

  void pass_over() {
    if (phase == Phase::training) {
      loop->ask();
      loop->skip();
      ++next_training;
    } else {
      ++next_test;
    }
  }

  LearnRequest request() {
    if (phase == Phase::training) return ask_loop();
    return test_request(next_test);
  }

  LearnRequest test_request(std::uint64_t test) const {
    return loop->test(
        {.seed = spec.seed,
         .purpose = Purpose::test,
         .episode = static_cast<std::uint32_t>(next_training),
         .first_rollout = static_cast<std::uint32_t>(test)},
        {.gamma = spec.config().train.number("gamma"),
         .max_steps = static_cast<std::uint32_t>(spec.config().train.integer("max_steps"))});
  }

  EpisodeAddress address() const {
    return {.episode = next_training,
            .test = phase == Phase::testing ? std::optional(next_test) : std::nullopt};
  }

  void tell(PaidEpisode paid, std::optional<double> cost);  // in learner.cpp

  // The following are in learner_attempts.cpp.
  //
  // What the journal gets. finished_attempt throws Errc::simulator unless the episode is valid.
  Attempt finished_attempt(const LearnRequest& request, PaidEpisode paid) const;
  Attempt failed_attempt(const LearnRequest& request, const std::string& error,
                         const PaidEpisode& so_far = {}) const;
  // Throws if all of the first episodes were cut and dropped. `before` is the number of episodes
  // when this was last asked, so that a run that goes on is not stopped again.
  void require_some_whole(std::uint32_t max_steps, std::uint64_t before) const;
  // Throws if an attempt that failed ends the run.
  void judge_failure(const Attempt& attempt);
  // An episode is given up. Throws if it is one too many in a row.
  void count_given_up(const std::string& error);
  // Whether an episode all of whose attempts so far have failed gets no other one.
  bool is_given_up(const EpisodeAddress& at, const std::vector<Attempt>& made) const;
  bool step_in_flight();
  void submit_open();
  void record(const Arrival& arrival);
  void record_arrived();

  // In this process and in others.
  std::size_t num_workers() const {
    return loop->num_workers() + (remote != nullptr ? remote->size() : 0);
  }

  RemoteWorkers* remote;
  LearnSpec spec;
  LearnFiles files;
  Journal journal;
  std::int64_t run;
  PilotJudge pilot;
  std::unique_ptr<LearnLoop> loop;
  Accounts accounts;
  LearnCheckpointFile checkpoint;
  ArrivalFiles arrived;  // with a lag
  Phase phase = Phase::training;
  std::uint64_t next_training = 0, next_test = 0;
  std::vector<TestEpisode> tests;
  ControlledTest controlled;  // once the run is done
  std::vector<Measurement> findings;
  std::uint64_t replayed = 0, other_actions = 0, failed_in_a_row = 0;
  std::optional<std::uint64_t> last_training;  // in the journal, when it was opened
  bool was_closed = false;                     // this final test was made to its end before
  std::optional<double> asked_before;          // when another process asked for the next episode
  std::optional<LearnRequest> asked;
  std::optional<EpisodeAddress> looked_up;
  std::vector<Attempt> found;  // in the journal, at that address
  std::optional<double> last_return;
  std::string stopped_by;
  std::vector<std::string> notes;
  // With a lag: episodes before these numbers may run, and none from the last one on.
  std::uint64_t training_until = 0, tests_until = 0;
  bool training_closed = false, tests_closed = false;
  std::map<EpisodeAddress, Allowed> allowed;  // what had been spent when each was allowed to start
  std::set<EpisodeAddress> recorded;          // by this process
  std::set<EpisodeAddress> known;    // of the next episodes: those that need no further attempt
  std::unique_ptr<Flights> flights;  // last: its threads use the simulator of the loop
};

}  // namespace hilo
