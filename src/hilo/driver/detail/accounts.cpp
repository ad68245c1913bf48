#include "hilo/driver/detail/accounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

constexpr std::uint64_t kMeasuredEpisodes = 10;
constexpr const char* kHighSecond = "seconds of a high-fidelity step";
constexpr const char* kLowSecond = "seconds of a low-fidelity step";
constexpr const char* kLowSteps = "low-fidelity steps";
constexpr const char* kClock = "wall seconds";
constexpr double kTenth = 0.1;

double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Accounts::Accounts(const LearnSpec& spec, Journal& journal, std::int64_t run)
    : spec_(spec), journal_(journal), run_(run), spent_(journal.spent(run)) {
  clock_before_ = std::max(spent_.clock, journal.decided(run, kClock).value_or(0));
  high_second_ = journal.decided(run, kHighSecond);
  low_second_ = journal.decided(run, kLowSecond);
  pilot_ = journal.finished_among_first(run, spec.pilot_episodes);
  journal.for_each_test(run, [&](const Attempt& attempt) {
    OlderTests& tests = older_tests_[attempt.at.episode];
    tests.episodes += attempt.failed ? 0 : 1;
    tests.steps += attempt.steps;
    tests.cost += attempt.cost;
  });
  if (!spec.failures.stop) skipped_ = journal.given_up(run, spec.failures.retries);
}

// Until the rate is frozen, cheap steps cost the time that they took.
double Accounts::low_cost(std::uint64_t low_steps) const {
  if (!measures()) return spec_.costs.low_step.value_or(0) * static_cast<double>(low_steps);
  return low_second_ ? *low_second_ * static_cast<double>(low_steps) : spent_.low_seconds;
}

double Accounts::cost(std::uint64_t low_steps) const { return spent_.cost + low_cost(low_steps); }

// A final test of a known number of episodes needs what so many training episodes needed on
// average; otherwise it needs a tenth of the budget.
bool Accounts::may_train(std::uint64_t low_steps) const {
  const Budget& budget = spec_.budget;
  const std::optional<std::uint64_t> reserve = spec_.reserved_episodes();
  const auto n = static_cast<double>(std::max<std::uint64_t>(spent_.training, 1));
  const auto needed = [&](double of_training, double limit) {
    return reserve ? static_cast<double>(*reserve) * of_training / n : kTenth * limit;
  };
  if (budget.episodes > 0 && episodes() + reserve.value_or(0) >= budget.episodes) return false;
  const auto steps = static_cast<double>(spent_.steps);
  const auto most_steps = static_cast<double>(budget.steps);
  if (budget.steps > 0 &&
      steps + needed(static_cast<double>(spent_.training_steps), most_steps) >= most_steps)
    return false;
  if (budget.cost > 0 && cost(low_steps) + needed(spent_.training_cost, budget.cost) >= budget.cost)
    return false;
  return budget.wall == 0 || clock() + needed(spent_.training_seconds, budget.wall) < budget.wall;
}

bool Accounts::may_test(std::uint64_t tests, std::uint64_t low_steps) const {
  const std::optional<std::uint64_t> reserve = spec_.reserved_episodes();
  if (reserve && tests >= *reserve) return false;
  return limit_reached(low_steps).empty();
}

Accounts::OlderTests Accounts::tests_before(std::uint64_t end) const {
  OlderTests sum;
  for (const auto& [episode, tests] : older_tests_) {
    if (episode >= end) break;
    sum.episodes += tests.episodes;
    sum.steps += tests.steps;
    sum.cost += tests.cost;
  }
  return sum;
}

bool Accounts::may_start(std::uint64_t started, std::uint64_t low_steps) const {
  const Budget& budget = spec_.budget;
  const std::optional<std::uint64_t> reserve = spec_.reserved_episodes();
  const std::uint64_t own = started - std::min(started, spent_.reused);
  const Allowed before = settled(started, low_steps);
  const auto n = static_cast<double>(std::max<std::uint64_t>(settled_.training, 1));
  // Those under way, and the final test, will need what others needed on average.
  const auto under_way = static_cast<double>(own - std::min(own, settled_.episodes));
  const auto needed = [&](double of_training, double limit) {
    return (under_way + static_cast<double>(reserve.value_or(0))) * of_training / n +
           (reserve ? 0 : kTenth * limit);
  };
  if (budget.episodes > 0 &&
      own + tests_before(started + 1).episodes + reserve.value_or(0) >= budget.episodes)
    return false;
  const auto most_steps = static_cast<double>(budget.steps);
  if (budget.steps > 0 &&
      before.steps + needed(static_cast<double>(settled_.training_steps), most_steps) >= most_steps)
    return false;
  if (budget.cost > 0 && before.cost + needed(settled_.training_cost, budget.cost) >= budget.cost)
    return false;
  return budget.wall == 0 || clock() + needed(spent_.training_seconds, budget.wall) < budget.wall;
}

bool Accounts::may_start_test(const EpisodeAddress& at, std::uint64_t low_steps) const {
  const Budget& budget = spec_.budget;
  const OlderTests older = tests_before(at.episode);
  if (const auto reserve = spec_.reserved_episodes(); reserve && *at.test >= *reserve) return false;
  if (budget.steps > 0 && settled_.steps + older.steps >= budget.steps) return false;
  if (budget.cost > 0 && settled_.cost + older.cost + low_cost(low_steps) >= budget.cost)
    return false;
  return budget.wall == 0 || clock() < budget.wall;
}

Allowed Accounts::settled(std::uint64_t episode, std::uint64_t low_steps) const {
  const OlderTests tests = tests_before(episode + 1);
  return {.cost = settled_.cost + tests.cost + low_cost(low_steps),
          .steps = static_cast<double>(settled_.steps + tests.steps)};
}

void Accounts::settle(const std::vector<Attempt>& attempts) {
  if (!attempts.empty() && !attempts[0].at.test && !attempts[0].is_reused()) ++settled_.episodes;
  for (const Attempt& attempt : attempts) {
    if (attempt.is_reused()) continue;
    settled_.steps += attempt.steps;
    settled_.cost += attempt.cost;
    if (attempt.failed || attempt.at.test) continue;
    ++settled_.training;
    settled_.training_steps += attempt.steps;
    settled_.training_cost += attempt.cost;
  }
}

std::string Accounts::limit_of_retries(std::uint64_t low_steps) const {
  const Budget& budget = spec_.budget;
  if (budget.steps > 0 && spent_.steps >= budget.steps) return "steps";
  if (budget.cost > 0 && cost(low_steps) >= budget.cost) return "cost";
  if (budget.wall > 0 && clock() >= budget.wall) return "wall";
  return "";
}

std::string Accounts::limit_reached(std::uint64_t low_steps) const {
  if (spec_.budget.episodes > 0 && episodes() >= spec_.budget.episodes) return "episodes";
  return limit_of_retries(low_steps);
}

std::uint64_t Accounts::planned_training(std::uint64_t low_steps) const {
  const Budget& budget = spec_.budget;
  const auto so_far = static_cast<double>(spent_.training);
  constexpr double kWithoutLimit = 10;  // times what there is
  double planned = kWithoutLimit * so_far;
  bool is_limited = false;
  const auto limit = [&](double episodes) {
    planned = is_limited ? std::min(planned, episodes) : episodes;
    is_limited = true;
  };
  if (budget.episodes > 0)
    limit(static_cast<double>(budget.episodes - spec_.reserved_episodes().value_or(0)));
  if (budget.steps > 0 && spent_.steps > 0)
    limit((1 - kTenth) * so_far * static_cast<double>(budget.steps) /
          static_cast<double>(spent_.steps));
  if (budget.cost > 0 && cost(low_steps) > 0)
    limit((1 - kTenth) * so_far * budget.cost / cost(low_steps));
  return static_cast<std::uint64_t>(std::max(planned, so_far));
}

std::string Accounts::first_limit() const {
  const Budget& budget = spec_.budget;
  return budget.episodes > 0 ? "episodes"
         : budget.steps > 0  ? "steps"
         : budget.cost > 0   ? "cost"
                             : "wall";
}

void Accounts::begin_attempt(std::optional<double> asked_at) {
  attempt_began_ = SteadyClock::now();
  attempt_seconds_before_ = asked_at ? std::max(0.0, now_in_seconds() - *asked_at) : 0;
}

void Accounts::price(Attempt& attempt, std::optional<double> reported,
                     std::optional<double> seconds) const {
  if (reported && !(std::isfinite(*reported) && *reported >= 0))
    throw Error(
        Errc::data,
        fmt::format("the cost of an episode is {}, but must be finite and from 0", *reported));
  attempt.seconds = seconds.value_or(attempt_seconds_before_ + seconds_since(attempt_began_));
  attempt.clock = clock() + attempt_seconds_before_;
  attempt.low_seconds = spent_.low_seconds;
  const auto steps = static_cast<double>(attempt.steps);
  if (!measures()) {
    attempt.cost = spec_.costs.high_episode.value_or(0) + spec_.costs.high_step.value_or(0) * steps;
    attempt.cost_source = "declared";
  } else if (reported) {
    attempt.cost = *reported;
    attempt.cost_source = "reported";
  } else if (attempt.failed && spent_.reported > 0) {
    attempt.cost_source = "reported";  // nothing: seconds would be another unit
  } else {
    attempt.cost = high_second_ && !attempt.failed ? *high_second_ * steps : attempt.seconds;
    attempt.cost_source = "measured";
  }
}

void Accounts::add(const Attempt& attempt) {
  clock_before_ += attempt_seconds_before_;
  attempt_seconds_before_ = 0;
  ++spent_.attempts;
  spent_.steps += attempt.steps;
  spent_.cost += attempt.cost;
  spent_.seconds += attempt.seconds;
  if (attempt.cost_source == "reported") ++spent_.reported;
  if (attempt.failed) {
    ++spent_.failed;
  } else if (attempt.at.test) {
    ++spent_.testing;
  } else {
    ++spent_.training;
    if (attempt.at.episode < spec_.pilot_episodes) ++pilot_;
    spent_.training_cost += attempt.cost;
    spent_.training_steps += attempt.steps;
    spent_.training_seconds += attempt.seconds;
  }
}

void Accounts::worked(double seconds, std::uint64_t low_steps) {
  if (low_steps <= spent_.low_steps) return;
  spent_.low_steps = low_steps;
  spent_.low_seconds += seconds;
}

void Accounts::freeze(std::uint64_t low_steps, bool now) {
  if (!measures() || high_second_ || (!now && spent_.training < kMeasuredEpisodes)) return;
  low_second_ = low_steps > 0 ? spent_.low_seconds / static_cast<double>(low_steps) : 0;
  high_second_ = spent_.training_steps > 0
                     ? spent_.training_seconds / static_cast<double>(spent_.training_steps)
                     : 0;
  journal_.decide(run_, kLowSecond, *low_second_);
  journal_.decide(run_, kHighSecond, *high_second_);
}

void Accounts::close(std::uint64_t low_steps, bool done) {
  if (clock() - journal_.decided(run_, kClock).value_or(0) > 0.01)
    journal_.decide(run_, kClock, clock());
  if (!done) return;
  freeze(low_steps, true);
  const auto known = journal_.decided(run_, kLowSteps);
  if (!known || *known != static_cast<double>(low_steps))
    journal_.decide(run_, kLowSteps, static_cast<double>(low_steps));
}

Bill Accounts::bill(std::uint64_t low_steps) const {
  return {.episodes = spent_.training + spent_.testing,
          .training = spent_.training,
          .testing = spent_.testing,
          .pilot = pilot_,
          .reused = spent_.reused,
          .attempts = spent_.attempts,
          .failed = spent_.failed,
          .skipped = skipped_,
          .steps = spent_.steps,
          .low_steps = low_steps,
          .high_cost = spent_.cost,
          .low_cost = low_cost(low_steps),
          .unit = !measures()                                                 ? CostUnit::declared
                  : spent_.reported == spent_.attempts && spent_.attempts > 0 ? CostUnit::reported
                                                                              : CostUnit::seconds,
          .clock = clock(),
          .attempt_seconds = spent_.seconds};
}

double Accounts::share(std::uint64_t low_steps) const {
  const Budget& budget = spec_.budget;
  const auto of = [](double spent, double limit) { return limit > 0 ? spent / limit : 0; };
  return std::min(
      1.0, std::max({of(static_cast<double>(episodes()), static_cast<double>(budget.episodes)),
                     of(static_cast<double>(spent_.steps), static_cast<double>(budget.steps)),
                     of(cost(low_steps), budget.cost), of(clock(), budget.wall)}));
}

}  // namespace hilo
