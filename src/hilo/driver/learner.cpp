#include "hilo/driver/learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/core/version.hpp"
#include "hilo/driver/detail/accounts.hpp"
#include "hilo/driver/detail/learn_checkpoint.hpp"
#include "hilo/estimator/mean_interval.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {
namespace {

constexpr std::uint64_t kHopeless = 3;  // episodes in a row that failed
constexpr std::size_t kErrorTail = 2000;
// Below this many returns, or beyond this skewness, an interval needs a word of caution.
constexpr std::size_t kFewReturns = 20;
constexpr double kSkewed = 1;

std::string tail(const std::string& text) {
  return text.size() <= kErrorTail ? text : text.substr(text.size() - kErrorTail);
}

// The probability with which the policy takes action a in state s.
double probability(const Behaviour& policy, State s, Action a) {
  const double uniform = policy.epsilon / policy.num_actions;
  const GreedyHead head = policy.heads[s];
  bool greedy = head.count == 1 && head.first == a;
  for (std::uint32_t k = 0; head.count > 1 && k < head.count; ++k)
    greedy = greedy || policy.ties[std::size_t{s} * policy.num_actions + k] == a;
  return uniform + (greedy ? (1 - policy.epsilon) / head.count : 0);
}

PaidEpisode paid_of(const Episode& path, const TabularRequest& request) {
  PaidEpisode paid;
  paid.path = path;
  for (std::size_t t = path.length(); t-- > 0;)
    paid.discounted_return = request.horizon.gamma * paid.discounted_return + path.rewards[t];
  for (std::size_t t = 0; t < path.length(); ++t)
    paid.probabilities.push_back(probability(request.policy, path.states[t], path.actions[t]));
  return paid;
}

std::vector<SimulatorIdentity> simulators_of(const LearnSpec& spec) {
  Configuration high;
  Configuration low;
  const ProblemKind& kind = *spec.config().problem_kind;
  for (const auto& [key, value] : spec.config().configuration.entries()) {
    if (!key.starts_with("problem.")) continue;
    const auto info = std::ranges::find(kind.parameters, key.substr(8), &ParameterInfo::name);
    const bool of_low = info != kind.parameters.end() && info->low_fidelity_only;
    (of_low ? low : high).add(key, value);
  }
  std::vector<SimulatorIdentity> out = {{.role = "high",
                                         .name = kind.name,
                                         .version = std::string(version()),
                                         .identity = high.hash()}};
  if (spec.config().agent->uses_low_fidelity())
    out.push_back({.role = "low",
                   .name = kind.name,
                   .version = std::string(version()),
                   .identity = low.hash()});
  return out;
}

}  // namespace

struct Learner::Impl {
  Impl(LearnSpec its_spec, LearnFiles its_files)
      : spec(std::move(its_spec)),
        files(std::move(its_files)),
        journal(Journal::open(files.journal, files.durable)),
        run(journal.find_or_add({.name = spec.spec.name,
                                 .seed = spec.seed,
                                 .identity = spec.identity,
                                 .spec = spec.spec.text,
                                 .program = {},
                                 .started = {},
                                 .simulators = simulators_of(spec)})),
        loop(std::make_unique<SingleRun>(spec.spec, "", spec.seed)),
        accounts(spec, journal, run),
        checkpoint(files.checkpoint(), files.checkpoint_every) {
    notes = spec.spec.notes;
    load_checkpoint();
  }

  // Checkpoints only save time. One that is missing, damaged, of another program or ahead of the
  // journal is not used, and everything is learnt again from the journal.
  void load_checkpoint() {
    const auto saved = files.use_checkpoint ? checkpoint.find() : std::nullopt;
    if (!saved) return;
    try {
      if (saved->identity != spec.identity.hash() || saved->seed != spec.seed ||
          saved->digest != journal.digest(run, saved->episodes))
        return;
      loop->load(saved->run);
      next_training = saved->episodes;
    } catch (const Error&) {
      loop = std::make_unique<SingleRun>(spec.spec, "", spec.seed);
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
                             .run = loop->save()};
    });
  }

  enum class Phase : std::uint8_t { training, testing, done };

  // Learns again from all episodes that were paid for and decides what comes next: whatever is in
  // the journal is used, and only what is not there is asked of the budget.
  void catch_up() {
    while (phase == Phase::training && !attempts().empty() && take(attempts())) {
    }
    if (phase == Phase::training && attempts().empty() && !accounts.may_train(loop->low_steps())) {
      keep_checkpoint(true);  // for a budget that is extended later
      phase = Phase::testing;
      loop->stop();
    }
    while (phase == Phase::testing) {
      if (!attempts().empty()) {
        if (!take(attempts())) break;
      } else if (!accounts.may_test(next_test, loop->low_steps())) {
        phase = Phase::done;
        accounts.close(loop->low_steps());
      } else {
        break;
      }
    }
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
  }

  // Takes what the journal has of the next episode: true if that settles it.
  bool take(const std::vector<Attempt>& of_episode) {
    const Attempt last = of_episode.back();
    if (last.failed) {
      // Where failures stop the run, the user has seen the error and wants another attempt.
      if (spec.failures.stop || of_episode.size() <= spec.failures.retries) return false;
      pass_over();
      return true;
    }
    if (phase == Phase::testing) {
      test_returns.push_back(last.paid.discounted_return);
      ++next_test;
      return true;
    }
    const TabularRequest request = loop->ask();
    const Episode& path = last.paid.path;
    check_episode(path, loop->high().num_states(), loop->high().num_actions());
    for (std::size_t t = 0; t < path.length(); ++t)
      if (request.action(static_cast<std::uint32_t>(t), path.states[t]) != path.actions[t]) {
        ++other_actions;
        break;
      }
    learn(path);
    ++replayed;
    return true;
  }

  void learn(const Episode& path) {
    double seconds = 0;
    {
      const Stopwatch watch(seconds);
      loop->tell(path);
    }
    ++next_training;
    accounts.learnt(seconds, loop->low_steps());
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

  TabularRequest request() {
    if (phase == Phase::training) return loop->ask();
    return {.number = next_training,
            .policy = loop->greedy(),
            .streams = {.seed = spec.seed,
                        .purpose = Purpose::test,
                        .episode = static_cast<std::uint32_t>(next_training),
                        .first_rollout = static_cast<std::uint32_t>(next_test)},
            .horizon = {
                .gamma = spec.config().train.number("gamma"),
                .max_steps = static_cast<std::uint32_t>(spec.config().train.integer("max_steps"))}};
  }

  EpisodeAddress address() const {
    return {.episode = next_training,
            .test = phase == Phase::testing ? std::optional(next_test) : std::nullopt};
  }

  LearnSpec spec;
  LearnFiles files;
  Journal journal;
  std::int64_t run;
  std::unique_ptr<SingleRun> loop;
  Accounts accounts;
  LearnCheckpointFile checkpoint;
  Phase phase = Phase::training;
  std::uint64_t next_training = 0, next_test = 0;
  std::vector<double> test_returns;
  std::uint64_t replayed = 0, other_actions = 0, failed_in_a_row = 0;
  std::optional<LearnRequest> asked;
  std::optional<EpisodeAddress> looked_up;
  std::vector<Attempt> found;  // in the journal, at that address
  std::optional<double> last_return;
  std::vector<std::string> notes;
};

Learner::Learner(LearnSpec spec, LearnFiles files)
    : impl_(std::make_unique<Impl>(std::move(spec), std::move(files))) {}
Learner::Learner(Learner&&) noexcept = default;
Learner& Learner::operator=(Learner&&) noexcept = default;
Learner::~Learner() = default;

bool Learner::is_done() const { return impl_->phase == Impl::Phase::done; }
const LearnSpec& Learner::spec() const { return impl_->spec; }
const Journal& Learner::journal() const { return impl_->journal; }
const TabularAgent& Learner::agent() const { return impl_->loop->agent(); }
std::uint64_t Learner::replayed() const { return impl_->replayed; }
double Learner::share() const { return impl_->accounts.share(impl_->loop->low_steps()); }
std::optional<double> Learner::last_return() const { return impl_->last_return; }
void Learner::keep_checkpoint() { impl_->keep_checkpoint(true); }

std::vector<std::string> Learner::notes() const {
  std::vector<std::string> notes = impl_->notes;
  if (impl_->other_actions > 0)
    notes.push_back(fmt::format(
        "{} episodes of the journal were made by another policy than this program's, so "
        "that the results are not those of an undisturbed run",
        impl_->other_actions));
  return notes;
}

std::optional<LearnRequest> Learner::ask() {
  Impl& i = *impl_;
  i.catch_up();
  i.asked.reset();
  if (is_done()) return std::nullopt;
  const TabularRequest episode = i.request();
  i.asked = LearnRequest{.at = i.address(), .attempt = i.attempts().size(), .episode = episode};
  i.accounts.begin_attempt();
  return i.asked;
}

void Learner::tell(const Episode& episode, std::optional<double> cost) {
  Impl& i = *impl_;
  if (!i.asked) throw Error(Errc::usage, "an episode was told that was not asked for");
  const EpisodeSimulator& high = i.loop->high();
  check_episode(episode, high.num_states(), high.num_actions());
  if (episode.length() == 0)
    throw Error(Errc::simulator, "an episode without a step teaches nothing");
  if (episode.length() > i.asked->episode.horizon.max_steps)
    throw Error(Errc::simulator, "the episode has more than max_steps steps");
  Attempt attempt{.at = i.asked->at,
                  .number = i.asked->attempt,
                  .seed = i.asked->episode.simulator_seed(),
                  .steps = episode.length(),
                  .low_steps = i.loop->low_steps(),
                  .paid = paid_of(episode, i.asked->episode)};
  i.accounts.charge(attempt, cost);
  i.append(attempt);  // before it is learnt from
  i.asked.reset();
  i.failed_in_a_row = 0;
  i.last_return = attempt.paid.discounted_return;
  if (i.phase == Impl::Phase::training) {
    i.learn(episode);
    i.keep_checkpoint(false);
  } else {
    i.test_returns.push_back(attempt.paid.discounted_return);
    ++i.next_test;
  }
}

void Learner::tell_failure(const std::string& error, std::optional<double> cost) {
  Impl& i = *impl_;
  if (!i.asked) throw Error(Errc::usage, "a failure was told of an episode that was not asked for");
  Attempt attempt{.at = i.asked->at,
                  .number = i.asked->attempt,
                  .seed = i.asked->episode.simulator_seed(),
                  .failed = true,
                  .error = tail(error),
                  .low_steps = i.loop->low_steps()};
  i.accounts.charge(attempt, cost);
  i.append(attempt);
  i.asked.reset();
  if (attempt.number + 1 <= i.spec.failures.retries) return;
  if (i.spec.failures.stop)
    throw Error(Errc::simulator,
                fmt::format("episode {} failed {} times, the last time with: {}; all that was "
                            "learnt is kept, and the same command goes on",
                            attempt.at.episode, attempt.number + 1, attempt.error));
  i.accounts.skipped();
  i.pass_over();
  if (++i.failed_in_a_row >= kHopeless)
    throw Error(Errc::simulator,
                fmt::format("{} episodes in a row failed after all their retries, the last one "
                            "with: {}; all that was learnt is kept, and the same command goes on",
                            kHopeless, attempt.error));
}

bool Learner::catch_up() {
  impl_->catch_up();
  return is_done();
}

bool Learner::step() {
  const std::optional<LearnRequest> request = ask();
  if (!request) return true;
  Episode episode;
  try {
    impl_->loop->high().run_episode(request->episode.policy, request->episode.streams,
                                    request->episode.horizon, episode);
    if (episode.length() == 0)
      throw Error(Errc::simulator, "the high fidelity gave an episode without a step");
  } catch (const Error& e) {
    if (e.code() != Errc::simulator) throw;
    tell_failure(e.what());
    return false;
  }
  tell(episode);
  impl_->catch_up();
  return is_done();
}

Bill Learner::bill() const { return impl_->accounts.bill(impl_->loop->low_steps()); }

LearnOutcome Learner::outcome() const {
  if (!is_done()) throw Error(Errc::usage, "a run that is not done has no outcome");
  LearnOutcome outcome{.value = {},
                       .believed = impl_->loop->own_value(),
                       .stopped_by = impl_->accounts.limit_reached(impl_->loop->low_steps())};
  TestedValue& value = outcome.value;
  const std::vector<double>& returns = impl_->test_returns;
  const MeanInterval interval = mean_interval(returns);
  value.returns = interval.summary;
  value.skewness = interval.skewness;
  if (returns.size() > 1 && returns.size() < kFewReturns)
    value.caution = fmt::format(
        "{} returns are few: what happens more rarely may not be among them, and then the interval "
        "does not know of it",
        returns.size());
  else if (std::abs(value.skewness) > kSkewed)
    value.caution =
        "the returns are skewed, so that the interval may hold the true value less often than it "
        "says";
  return outcome;
}

}  // namespace hilo
