#include "hilo/driver/learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include "hilo/agent/catalogue.hpp"
#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/core/version.hpp"
#include "hilo/driver/detail/accounts.hpp"
#include "hilo/driver/detail/learn_checkpoint.hpp"
#include "hilo/estimator/mean_interval.hpp"
#include "hilo/exact/evaluate.hpp"
#include "hilo/exact/optimum.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {
namespace {

constexpr std::uint64_t kHopeless = 3;       // episodes in a row that failed
constexpr std::uint64_t kHopelessCuts = 20;  // first episodes that were all cut and dropped
constexpr const char* kTestedAfter = "training episodes before the final test";
constexpr const char* kAskedAt = "when an episode was asked for";
constexpr std::size_t kErrorTail = 2000;
// Below this many returns, or beyond this skewness, an interval needs a word of caution.
constexpr std::size_t kFewReturns = 20;
constexpr double kSkewed = 1;
constexpr std::size_t kMostExactStates = 5'000;

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

// 1, 2, 5, 10, 20, 50, ...: few, however long a run is.
bool is_milestone(std::uint64_t episode) {
  while (episode >= 10 && episode % 10 == 0) episode /= 10;
  return episode == 1 || episode == 2 || episode == 5;
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
    const Spent spent = journal.spent(run);
    last_training = spent.last_training;
    failed_in_a_row = spent.failed_in_a_row;
    load_checkpoint();
    asked_before = journal.decided(run, kAskedAt);
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
      findings = saved->findings;
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
                             .run = loop->save(),
                             .findings = findings};
    });
  }

  enum class Phase : std::uint8_t { training, testing, done };

  // Learns again from all episodes that were paid for and decides what comes next: whatever is in
  // the journal is used, and only what is not there is asked of the budget.
  void catch_up(const std::function<bool()>& keep_going = {}) {
    const auto goes_on = [&] { return !keep_going || keep_going(); };
    while (phase == Phase::training && !attempts().empty() && take(attempts()))
      if (!goes_on()) return;
    if (phase == Phase::training && !may_go_on_training()) {
      keep_checkpoint(true);  // for a budget that is extended later
      stopped_by = accounts.limit_reached(loop->low_steps());
      if (stopped_by.empty()) stopped_by = accounts.first_limit();
      phase = Phase::testing;
      was_closed = journal.decided(run, kTestedAfter) == static_cast<double>(next_training);
      loop->stop();
    }
    while (phase == Phase::testing && goes_on()) {
      if (!attempts().empty() && take(attempts())) continue;
      const bool may_test = attempts().empty()
                                ? accounts.may_test(next_test, loop->low_steps())
                                : accounts.limit_of_retries(loop->low_steps()).empty();
      if (may_test) return;
      phase = Phase::done;
      accounts.close(loop->low_steps(), true);
      journal.decide(run, kTestedAfter, static_cast<double>(next_training));
    }
  }

  // An episode that is missing between others is made again, whatever the budget says: what was
  // paid for behind it could not be used otherwise. A retry only needs what is left of the budget.
  bool may_go_on_training() const {
    if (last_training && *last_training > next_training) return true;
    return found.empty() ? accounts.may_train(loop->low_steps())
                         : accounts.limit_of_retries(loop->low_steps()).empty();
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
      if (spec.failures.stop || of_episode.size() <= spec.failures.retries) return false;
      // A test that failed before the run was stopped gets another attempt.
      if (phase == Phase::testing && !was_closed) return false;
      pass_over();
      return true;
    }
    if (phase == Phase::testing) {
      test_returns.push_back(last.paid.discounted_return);
      ++next_test;
      return true;
    }
    const TabularRequest request = ask_loop();
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
    accounts.worked(seconds, loop->low_steps());
    if (is_milestone(next_training))
      for (const Fact& fact : loop->agent().findings())
        findings.push_back({next_training, fact.name, fact.value});
  }

  // The next request of training. Before the first one the agent prepares.
  TabularRequest ask_loop() {
    double seconds = 0;
    std::optional<TabularRequest> request;
    {
      const Stopwatch watch(seconds);
      request = loop->ask();
    }
    accounts.worked(seconds, loop->low_steps());
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

  TabularRequest request() {
    if (phase == Phase::training) return ask_loop();
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
  std::uint32_t asked_max_steps = 0;
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

void Learner::keep_checkpoint() {
  impl_->keep_checkpoint(true);
  impl_->accounts.close(impl_->loop->low_steps(), false);
}

void Learner::note_asked() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  impl_->journal.decide(impl_->run, kAskedAt, std::chrono::duration<double>(now).count());
}

std::vector<std::string> Learner::notes() const {
  std::vector<std::string> notes = impl_->notes;
  if (is_done() && impl_->next_training > 0 && impl_->loop->dropped() >= impl_->next_training)
    notes.emplace_back(
        "all episodes were cut and dropped, so that nothing was learnt: raise max_steps, or set "
        "truncation = \"terminal\"");
  if (impl_->other_actions > 0)
    notes.push_back(fmt::format(
        "{} episodes of the journal were made by another policy than this program's, so "
        "that the results are not those of an undisturbed run",
        impl_->other_actions));
  return notes;
}

std::optional<LearnRequest> Learner::ask() {
  Impl& i = *impl_;
  i.asked.reset();
  i.catch_up();
  if (is_done()) return std::nullopt;
  TabularRequest episode = i.request();
  if (i.phase == Impl::Phase::training && !i.may_go_on_training()) {
    // The agent's preparation alone has reached the limit.
    i.catch_up();
    if (is_done()) return std::nullopt;
    episode = i.request();
  }
  i.asked = LearnRequest{.at = i.address(), .attempt = i.attempts().size(), .episode = episode};
  i.accounts.freeze(i.loop->low_steps());
  i.accounts.begin_attempt(std::exchange(i.asked_before, std::nullopt));
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
  const std::uint32_t max_steps = i.asked->episode.horizon.max_steps;
  Attempt attempt{.at = i.asked->at,
                  .number = i.asked->attempt,
                  .seed = i.asked->episode.simulator_seed(),
                  .steps = episode.length(),
                  .low_steps = i.loop->low_steps(),
                  .paid = paid_of(episode, i.asked->episode)};
  i.accounts.price(attempt, cost);
  i.append(attempt);  // before it is learnt from
  i.asked.reset();
  i.failed_in_a_row = 0;
  i.asked_max_steps = max_steps;
  i.last_return = attempt.paid.discounted_return;
  if (!i.spec.failures.stop && attempt.number > i.spec.failures.retries) i.accounts.recovered();
  if (i.phase == Impl::Phase::training) {
    i.learn(episode);
    i.keep_checkpoint(false);
    if (i.loop->dropped() == i.next_training && i.next_training == kHopelessCuts)
      throw Error(
          Errc::simulator,
          fmt::format("all of the first {} episodes were cut (train.max_steps is {}) and "
                      "dropped, so that nothing was learnt: raise max_steps, set truncation = "
                      "\"terminal\" to count the cut as an end, or take an agent that learns "
                      "from single steps, under another name; the same command goes on",
                      kHopelessCuts, i.asked_max_steps));
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
  i.accounts.price(attempt, cost);
  i.append(attempt);
  i.asked.reset();
  if (attempt.number + 1 <= i.spec.failures.retries) return;
  if (i.spec.failures.stop)
    throw Error(Errc::simulator,
                fmt::format("episode {} failed {} times, the last time with: {}; all that was "
                            "learnt is kept, and the same command goes on",
                            attempt.at.episode, attempt.number + 1, attempt.error));
  if (attempt.number == i.spec.failures.retries) i.accounts.skipped();
  i.pass_over();
  if (++i.failed_in_a_row >= kHopeless)
    throw Error(Errc::simulator,
                fmt::format("{} episodes in a row failed after all their retries, the last one "
                            "with: {}; all that was learnt is kept, and the same command goes on",
                            kHopeless, attempt.error));
}

bool Learner::catch_up(const std::function<bool()>& keep_going) {
  impl_->catch_up(keep_going);
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

const std::vector<Measurement>& Learner::findings() const { return impl_->findings; }

LearnReference Learner::reference() const {
  const Fidelities& pair = impl_->loop->fidelities();
  const RunConfig& config = impl_->spec.config();
  const double gamma = config.train.number("gamma");
  const auto max_steps = static_cast<std::uint32_t>(config.train.integer("max_steps"));
  const Model* model = pair.high().model();
  LearnReference out;
  if (model == nullptr || !(gamma < 1) || pair.high().num_states() > kMostExactStates) return out;
  const auto value = [&](const Behaviour& policy) {
    return evaluate_from_start(*model, policy_matrix(policy), gamma, max_steps).value;
  };
  out.policy = value(impl_->loop->greedy());
  out.optimum = find_optimum(*model, gamma, max_steps).value;
  if (pair.lows().empty() || pair.low().model() == nullptr) return out;
  const auto alone = build_agent(agent_kind("low-only"), pair, {},
                                 {.gamma = gamma,
                                  .epsilon = config.train.number("epsilon"),
                                  .max_steps = max_steps,
                                  .seed = impl_->spec.seed});
  alone->prepare();
  out.cheap_alone = value(alone->greedy());
  return out;
}

Bill Learner::bill() const { return impl_->accounts.bill(impl_->loop->low_steps()); }

LearnOutcome Learner::outcome() const {
  if (!is_done()) throw Error(Errc::usage, "a run that is not done has no outcome");
  LearnOutcome outcome{
      .value = {}, .believed = impl_->loop->own_value(), .stopped_by = impl_->stopped_by};
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
