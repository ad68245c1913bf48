#include "hilo/driver/detail/accounts.hpp"

#include <algorithm>

namespace hilo {
namespace {

// Costs that nobody declares are measured in the first episodes and then frozen: rates that changed
// for ever would let what was decided depend on the machine's mood.
constexpr std::uint64_t kMeasuredEpisodes = 10;
constexpr const char* kHighSecond = "seconds of a high-fidelity step";
constexpr const char* kLowSecond = "seconds of a low-fidelity step";
constexpr const char* kLowSteps = "low-fidelity steps";
constexpr double kTenth = 0.1;

}  // namespace

Accounts::Accounts(const LearnSpec& spec, Journal& journal, std::int64_t run)
    : spec_(spec), journal_(journal), run_(run), spent_(journal.spent(run)) {
  clock_before_ = spent_.clock;
  high_second_ = journal.decided(run, kHighSecond);
  low_second_ = journal.decided(run, kLowSecond);
  if (!spec.failures.stop) skipped_ = journal.given_up(run, spec.failures.retries);
}

double Accounts::low_step_cost() const {
  if (spec_.costs.any()) return spec_.costs.low_step.value_or(0);
  return low_second_.value_or(0);
}

double Accounts::cost(std::uint64_t low_steps) const {
  return spent_.cost + low_step_cost() * static_cast<double>(low_steps);
}

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
  if (budget.steps > 0 && steps + needed(steps, most_steps) >= most_steps) return false;
  if (budget.cost > 0 && cost(low_steps) + needed(spent_.training_cost, budget.cost) >= budget.cost)
    return false;
  return budget.wall == 0 || clock() + needed(spent_.seconds, budget.wall) < budget.wall;
}

bool Accounts::may_test(std::uint64_t tests, std::uint64_t low_steps) const {
  const std::optional<std::uint64_t> reserve = spec_.reserved_episodes();
  if (reserve && tests >= *reserve) return false;
  return limit_reached(low_steps).empty();
}

std::string Accounts::limit_reached(std::uint64_t low_steps) const {
  const Budget& budget = spec_.budget;
  if (budget.episodes > 0 && episodes() >= budget.episodes) return "episodes";
  if (budget.steps > 0 && spent_.steps >= budget.steps) return "steps";
  if (budget.cost > 0 && cost(low_steps) >= budget.cost) return "cost";
  if (budget.wall > 0 && clock() >= budget.wall) return "wall";
  return "";
}

void Accounts::begin_attempt() { attempt_began_ = SteadyClock::now(); }

void Accounts::charge(Attempt& attempt, std::optional<double> reported) {
  attempt.seconds = seconds_since(attempt_began_);
  attempt.clock = clock();
  const auto steps = static_cast<double>(attempt.steps);
  if (spec_.costs.any()) {
    attempt.cost = spec_.costs.high_episode.value_or(0) + spec_.costs.high_step.value_or(0) * steps;
    attempt.cost_source = "declared";
  } else if (reported) {
    attempt.cost = *reported;
    attempt.cost_source = "reported";
  } else {
    attempt.cost = high_second_ && !attempt.failed ? *high_second_ * steps : attempt.seconds;
    attempt.cost_source = "measured";
  }
  ++spent_.attempts;
  if (attempt.failed)
    ++spent_.failed;
  else
    ++(attempt.at.test ? spent_.testing : spent_.training);
  spent_.steps += attempt.steps;
  spent_.cost += attempt.cost;
  if (!attempt.failed && !attempt.at.test) spent_.training_cost += attempt.cost;
  spent_.seconds += attempt.seconds;
}

void Accounts::learnt(double seconds, std::uint64_t low_steps) {
  if (has_low_start_) {
    low_seconds_ += seconds;
  } else {
    low_steps_before_ = low_steps;  // the first steps may be those of preparation, not timed here
    has_low_start_ = true;
  }
  if (spent_.training >= kMeasuredEpisodes) freeze(low_steps);
}

void Accounts::freeze(std::uint64_t low_steps) {
  if (spec_.costs.any() || high_second_) return;
  const auto measured = static_cast<double>(low_steps - low_steps_before_);
  low_second_ = measured > 0 ? low_seconds_ / measured : 0;
  high_second_ = spent_.steps > 0 ? spent_.seconds / static_cast<double>(spent_.steps) : 0;
  journal_.decide(run_, kLowSecond, *low_second_);
  journal_.decide(run_, kHighSecond, *high_second_);
}

void Accounts::close(std::uint64_t low_steps) {
  freeze(low_steps);
  const auto known = journal_.decided(run_, kLowSteps);
  if (!known || *known != static_cast<double>(low_steps))
    journal_.decide(run_, kLowSteps, static_cast<double>(low_steps));
}

Bill Accounts::bill(std::uint64_t low_steps) const {
  return {.episodes = spent_.training + spent_.testing,
          .training = spent_.training,
          .testing = spent_.testing,
          .attempts = spent_.attempts,
          .failed = spent_.failed,
          .skipped = skipped_,
          .steps = spent_.steps,
          .low_steps = low_steps,
          .high_cost = spent_.cost,
          .low_cost = low_step_cost() * static_cast<double>(low_steps),
          .in_seconds = !spec_.costs.any(),
          .clock = clock()};
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
