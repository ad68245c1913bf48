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
#include "hilo/driver/detail/failure_regions.hpp"
#include "hilo/driver/detail/learner_impl.hpp"
#include "hilo/driver/detail/vector_paths.hpp"
#include "hilo/env/step_source.hpp"
#include "hilo/estimator/mean_interval.hpp"
#include "hilo/exact/evaluate.hpp"
#include "hilo/exact/optimum.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {
namespace {

// Below this many returns, or beyond this skewness, an interval needs a word of caution.
constexpr std::size_t kFewReturns = 20;
constexpr double kSkewed = 1;
constexpr std::size_t kMostExactStates = 5'000;

}  // namespace

const Behaviour& LearnRequest::table() const {
  if (const auto* table = std::get_if<Behaviour>(&policy)) return *table;
  throw Error(Errc::usage, "the request is for vectors, but was taken for one of a table");
}

const Policy& LearnRequest::vectors() const {
  if (const auto* vectors = std::get_if<std::shared_ptr<const Policy>>(&policy)) return **vectors;
  throw Error(Errc::usage, "the request is for a table, but was taken for one of vectors");
}

Action LearnRequest::action(std::uint32_t t, State s) const {
  return TabularRequest{.policy = table(), .streams = streams, .horizon = horizon}.action(t, s);
}

std::vector<double> LearnRequest::action(std::uint32_t t,
                                         std::span<const double> observation) const {
  require_within("step", std::uint64_t{t}, 0, horizon.max_steps - 1, Errc::usage);
  const Space& space = vectors().observation_space();
  const std::size_t size = space.is_discrete() ? 1 : space.dimension();
  if (observation.size() != size)
    throw Error(Errc::usage, fmt::format("the observation has {} numbers, but must have {}",
                                         observation.size(), size));
  Points seen(space), chosen(vectors().action_space());
  if (space.is_discrete())
    seen.push_back(static_cast<std::uint64_t>(observation[0]));
  else
    seen.push_back(observation);
  require_in_space(space, seen[0], "the observation");
  Rng rng = Rng::of_step(streams.stream(), t + 1);
  const ActionWords words = draw_action_words(rng);
  vectors().act(seen, {&words, 1}, chosen);
  if (vectors().action_space().is_discrete()) return {static_cast<double>(chosen[0].index())};
  const std::span<const double> numbers = chosen[0].coordinates();
  return {numbers.begin(), numbers.end()};
}

std::uint32_t LearnRequest::simulator_seed() const { return seed_of(streams.stream(), 0); }

Learner::Learner(LearnSpec spec, LearnFiles files, RemoteWorkers* remote)
    : impl_(std::make_unique<Impl>(std::move(spec), std::move(files), remote)) {}
Learner::Learner(Learner&&) noexcept = default;
Learner& Learner::operator=(Learner&&) noexcept = default;
Learner::~Learner() = default;

bool Learner::is_done() const { return impl_->phase == Impl::Phase::done; }
const LearnSpec& Learner::spec() const { return impl_->spec; }
const Journal& Learner::journal() const { return impl_->journal; }
const Agent& Learner::agent() const { return impl_->loop->agent(); }
const TabularAgent* Learner::table_agent() const {
  const SingleRun* run = impl_->loop->table();
  return run != nullptr ? &run->agent() : nullptr;
}
const AnySimulator& Learner::high() const { return impl_->loop->high(); }
void Learner::for_each_attempt(const std::function<void(const Attempt&)>& visit) const {
  impl_->journal.for_each_attempt(impl_->run, visit);
}
VectorEpisode Learner::vectors_of(const PaidEpisode& paid) const {
  if (!paid.vectors) throw Error(Errc::usage, "the episode is one of a table");
  return episode_of(*paid.vectors, high());
}
std::uint64_t Learner::replayed() const { return impl_->replayed; }
double Learner::share() const { return impl_->accounts.share(impl_->low_steps()); }
std::optional<double> Learner::last_return() const { return impl_->last_return; }

void Learner::keep_checkpoint() {
  impl_->keep_checkpoint(true);
  impl_->accounts.close(impl_->low_steps(), false);
}

void Learner::note_asked() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  impl_->journal.decide(impl_->run, kAskedAt, std::chrono::duration<double>(now).count());
}

void Learner::note_answer() {
  const auto asked = impl_->journal.decided(impl_->run, kAskedAt);
  if (!asked || *asked <= 0) return;
  impl_->asked_before = asked;
  impl_->journal.decide(impl_->run, kAskedAt, 0);
}

std::vector<std::string> Learner::notes() const {
  std::vector<std::string> notes = impl_->notes;
  if (const std::size_t workers = impl_->num_workers(); workers > impl_->lag())
    notes.push_back(
        fmt::format("there are {} workers, but train.lag is {}, so that only so many "
                    "episodes run at the same time",
                    workers, impl_->lag()));
  if (is_done() && impl_->next_training > 0 && impl_->loop->dropped() >= impl_->next_training)
    notes.emplace_back(
        "all episodes were cut and dropped, so that nothing was learnt: raise max_steps, or set "
        "truncation = \"terminal\"");
  if (is_done() && impl_->next_training > 0)
    for (std::string& remark : impl_->loop->agent().remarks()) notes.push_back(std::move(remark));
  if (const FailureReport report = is_done() ? failures() : FailureReport();
      report.is_concentrated) {
    const FailureReport::Region& worst = report.regions.front();
    notes.push_back(fmt::format(
        "failures are not spread evenly: {} of {} failed attempts were in state {}, where {} of {} "
        "attempts that came there failed; episodes that were skipped are missing from there, which "
        "biases what is learnt",
        worst.failed, report.failed, worst.state, worst.failed, worst.visits));
  }
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
  LearnRequest request = i.request();
  if (i.phase == Impl::Phase::training && !i.may_go_on_training()) {
    // The agent's preparation alone has reached the limit.
    i.catch_up();
    if (is_done()) return std::nullopt;
    request = i.request();
  }
  request.at = i.address();
  request.attempt = i.attempts().size();
  i.asked = std::move(request);
  i.accounts.freeze(i.low_steps());
  i.accounts.begin_attempt(std::exchange(i.asked_before, std::nullopt));
  return i.asked;
}

void Learner::tell(const Episode& episode, std::optional<double> cost) {
  PaidEpisode paid;
  paid.path = episode;
  impl_->tell(std::move(paid), cost);
}

void Learner::tell(const VectorPath& episode, std::optional<double> cost) {
  PaidEpisode paid;
  paid.vectors = episode;
  impl_->tell(std::move(paid), cost);
}

void Learner::Impl::tell(PaidEpisode paid, std::optional<double> cost) {
  Impl& i = *this;
  if (!i.asked) throw Error(Errc::usage, "an episode was told that was not asked for");
  const std::uint32_t max_steps = i.asked->horizon.max_steps;
  Attempt attempt = i.finished_attempt(*i.asked, std::move(paid));
  i.accounts.price(attempt, cost);
  i.append(attempt);  // before it is learnt from
  i.asked.reset();
  i.failed_in_a_row = 0;
  i.last_return = attempt.paid.discounted_return;
  if (!i.spec.failures.stop && attempt.number > i.spec.failures.retries) i.accounts.recovered();
  if (i.lag() > 1) {
    i.catch_up();
  } else if (i.phase == Impl::Phase::training) {
    i.learn(attempt.paid);
    i.keep_checkpoint(false);
    i.require_some_whole(max_steps, kHopelessCuts - 1);
  } else {
    i.tests.push_back({i.next_test, attempt.paid.discounted_return});
    ++i.next_test;
  }
}

void Learner::tell_failure(const std::string& error, std::optional<double> cost,
                           const PaidEpisode& so_far) {
  Impl& i = *impl_;
  if (!i.asked) throw Error(Errc::usage, "a failure was told of an episode that was not asked for");
  Attempt attempt = i.failed_attempt(*i.asked, error, so_far);
  i.accounts.price(attempt, cost);
  i.append(attempt);
  i.asked.reset();
  i.judge_failure(attempt);
  if (i.lag() > 1)
    i.catch_up();
  else if (attempt.number >= i.spec.failures.retries)
    i.pass_over();
}

bool Learner::catch_up(const std::function<bool()>& keep_going) {
  impl_->catch_up(keep_going);
  return is_done();
}

bool Learner::step() {
  if (impl_->lag() > 1) return impl_->step_in_flight();
  const std::optional<LearnRequest> request = ask();
  if (!request) return true;
  PlayedEpisode played = impl_->loop->play(*request);
  if (played.failure) {
    tell_failure(*played.failure, played.cost, played.paid);
    return false;
  }
  impl_->tell(std::move(played.paid), played.cost);
  impl_->catch_up();
  return is_done();
}

FailureReport Learner::failures() const {
  return bill().failed == 0 ? FailureReport() : find_failure_regions(impl_->journal, impl_->run);
}

std::optional<PilotVerdict> Learner::pilot() const {
  const SingleRun* run = impl_->loop->table();
  return run != nullptr ? impl_->pilot.verdict(run->fidelities()) : std::nullopt;
}

const std::string& Learner::agent_label() const {
  const LearnSpec& spec = impl_->spec;
  return impl_->pilot.is_dropped() ? spec.without_low->configs.front().label : spec.config().label;
}

const std::vector<Measurement>& Learner::findings() const { return impl_->findings; }

LearnReference Learner::reference() const {
  const SingleRun* run = impl_->loop->table();
  if (run == nullptr) return {};
  const Fidelities& pair = run->fidelities();
  const RunConfig& config = impl_->spec.config();
  const double gamma = config.train.number("gamma");
  const auto max_steps = static_cast<std::uint32_t>(config.train.integer("max_steps"));
  const Model* model = pair.high().model();
  LearnReference out;
  if (model == nullptr || !(gamma < 1) || pair.high().num_states() > kMostExactStates) return out;
  const auto value = [&](const Behaviour& policy) {
    return evaluate_from_start(*model, policy_matrix(policy), gamma, max_steps).value;
  };
  out.policy = value(run->greedy());
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

Bill Learner::bill() const {
  Bill bill = impl_->accounts.bill(impl_->low_steps());
  bill.test_low_steps = impl_->controlled.low_steps;
  if (bill.low_steps > 0)
    bill.low_cost += bill.low_cost / static_cast<double>(bill.low_steps) *
                     static_cast<double>(bill.test_low_steps);
  bill.low_steps += bill.test_low_steps;
  return bill;
}

LearnOutcome Learner::outcome() const {
  if (!is_done()) throw Error(Errc::usage, "a run that is not done has no outcome");
  LearnOutcome outcome{
      .value = {}, .believed = impl_->loop->own_value(), .stopped_by = impl_->stopped_by};
  TestedValue& value = outcome.value;
  std::vector<double> returns;
  for (const TestEpisode& test : impl_->tests) returns.push_back(test.value);
  value.controlled = impl_->controlled.value;
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
