#include <fmt/format.h>

#include <exception>

#include "hilo/core/text.hpp"
#include "hilo/driver/detail/learner_impl.hpp"

// Attempts at expensive episodes: what the journal gets, and what follows from one that failed.
namespace hilo {
namespace {

constexpr std::uint64_t kHopeless = 3;  // episodes in a row that failed
constexpr std::size_t kErrorTail = 2000;

std::string tail(const std::string& text) {
  return text.size() <= kErrorTail ? text : valid_utf8(text.substr(text.size() - kErrorTail));
}

}  // namespace

Attempt Learner::Impl::finished_attempt(const LearnRequest& request, PaidEpisode paid) const {
  loop->check(paid);
  const std::size_t length = length_of(paid);
  if (length == 0) throw Error(Errc::simulator, "an episode without a step teaches nothing");
  if (length > request.horizon.max_steps)
    throw Error(Errc::simulator, "the episode has more than max_steps steps");
  loop->complete(request, paid);
  return {.at = request.at,
          .number = request.attempt,
          .seed = request.simulator_seed(),
          .steps = length,
          .low_steps = low_steps(),
          .paid = std::move(paid)};
}

Attempt Learner::Impl::failed_attempt(const LearnRequest& request, const std::string& error,
                                      const PaidEpisode& so_far) const {
  Attempt attempt{.at = request.at,
                  .number = request.attempt,
                  .seed = request.simulator_seed(),
                  .failed = true,
                  .error = tail(error),
                  .steps = length_of(so_far),
                  .low_steps = low_steps()};
  if (so_far.vectors || !so_far.path.states.empty()) {
    attempt.paid = so_far;
    loop->complete(request, attempt.paid);
  }
  return attempt;
}

void Learner::Impl::judge_failure(const Attempt& attempt) {
  if (attempt.number + 1 <= spec.failures.retries) return;
  if (spec.failures.stop)
    throw Error(Errc::simulator,
                fmt::format("episode {} failed {} times, the last time with: {}; all that was "
                            "learnt is kept, and the same command goes on",
                            attempt.at.episode, attempt.number + 1, attempt.error));
  if (attempt.number == spec.failures.retries) accounts.skipped();
  if (lag() == 1) count_given_up(attempt.error);
}

void Learner::Impl::count_given_up(const std::string& error) {
  if (++failed_in_a_row < kHopeless) return;
  throw Error(Errc::simulator,
              fmt::format("{} episodes in a row failed after all their retries, the last one "
                          "with: {}; all that was learnt is kept, and the same command goes on",
                          failed_in_a_row, error));
}

// With a lag, the budget of an episode's retries is its share of what was left when it was allowed
// to start: that does not depend on what the others have done since.
bool Learner::Impl::is_given_up(const EpisodeAddress& at, const std::vector<Attempt>& made) const {
  if (spec.failures.stop) return false;
  if (made.size() > spec.failures.retries) return true;
  if (lag() == 1) return false;
  double cost = 0;
  double steps = 0;
  for (const Attempt& attempt : made) {
    cost += attempt.cost;
    steps += static_cast<double>(attempt.steps);
  }
  const auto start = allowed.find(at);
  const Allowed before = start == allowed.end() ? Allowed() : start->second;
  const auto n = static_cast<double>(lag());
  return (spec.budget.cost > 0 && cost >= (spec.budget.cost - before.cost) / n) ||
         (spec.budget.steps > 0 &&
          steps >= (static_cast<double>(spec.budget.steps) - before.steps) / n);
}

void Learner::Impl::require_some_whole(std::uint32_t max_steps, std::uint64_t before) const {
  if (before >= kHopelessCuts || next_training < kHopelessCuts || loop->dropped() < next_training)
    return;
  throw Error(Errc::simulator,
              fmt::format("all of the first {} episodes were cut (train.max_steps is {}) and "
                          "dropped, so that nothing was learnt: raise max_steps, set truncation = "
                          "\"terminal\" to count the cut as an end, or take an agent that learns "
                          "from single steps, under another name; the same command goes on",
                          next_training, max_steps));
}

// Several episodes at the same time. Which of them run, and under which policies, is decided in
// order; what has arrived is written down before anything else is done, and learnt from in order.
bool Learner::Impl::step_in_flight() {
  try {
    catch_up();
    if (phase == Phase::done) return true;
    submit_open();
    if (!flights->empty()) record(flights->wait());
    const std::uint64_t before = next_training;
    catch_up();
    require_some_whole(static_cast<std::uint32_t>(spec.config().train.integer("max_steps")),
                       before);
  } catch (...) {
    if (flights) record_arrived();
    throw;
  }
  return phase == Phase::done;
}

void Learner::Impl::record_arrived() {
  std::exception_ptr first;
  for (const Arrival& arrival : flights->take_arrived()) try {
      record(arrival);
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  if (first && std::uncaught_exceptions() == 0) std::rethrow_exception(first);
}

void Learner::Impl::submit_open() {
  if (!flights)
    flights = std::make_unique<Flights>(loop->table()->high(),
                                        std::min<std::size_t>(lag(), loop->num_workers()), remote,
                                        [this](const Arrival& arrival) { arrived.keep(arrival); });
  const bool testing = phase == Phase::testing;
  const std::uint64_t first = testing ? next_test : next_training;
  const std::uint64_t end = testing ? tests_until : training_until;
  known.erase(known.begin(), known.lower_bound(address()));
  for (std::uint64_t i = first; i < end; ++i) {
    const EpisodeAddress at = testing ? EpisodeAddress{.episode = next_training, .test = i}
                                      : EpisodeAddress{.episode = i};
    if (flights->has(at) || known.contains(at)) continue;
    const std::vector<Attempt> made = journal.attempts_at(run, at);
    if (!made.empty() && (!made.back().failed || is_given_up(at, made))) {
      known.insert(at);
      continue;
    }
    LearnRequest request = testing ? test_request(i) : loop->ask(i - first);
    request.at = at;
    request.attempt = made.size();
    // A process that was killed may have left it behind.
    if (std::optional<Arrival> before = arrived.find(at, made.size())) {
      before->request = request;
      record(*before);
      --i;  // it may need another attempt
      continue;
    }
    flights->submit(request);
  }
}

void Learner::Impl::record(const Arrival& arrival) {
  accounts.freeze(low_steps());
  Attempt attempt;
  bool failed = arrival.failed;
  std::string error = arrival.error;
  if (!failed) try {
      PaidEpisode paid;
      paid.path = arrival.episode;
      attempt = finished_attempt(arrival.request, std::move(paid));
    } catch (const Error& e) {
      if (e.code() != Errc::simulator) throw;
      failed = true;
      error = e.what();
    }
  if (failed) {
    PaidEpisode so_far;
    if (arrival.failed) so_far.path = arrival.episode;
    attempt = failed_attempt(arrival.request, error, so_far);
  }
  accounts.price(attempt, arrival.episode.cost, arrival.seconds);
  append(attempt);
  arrived.forget(attempt.at, attempt.number);
  recorded.insert(attempt.at);
  if (failed) {
    judge_failure(attempt);
    return;
  }
  last_return = attempt.paid.discounted_return;
  keep_checkpoint(false);
}

}  // namespace hilo
