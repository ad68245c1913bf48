#include "hilo/env/source_simulator.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>

#include "hilo/core/error.hpp"
#include "hilo/env/policy.hpp"

namespace hilo {
namespace {

std::size_t table_size(const Space& space, const char* what, std::size_t most) {
  if (!space.is_discrete())
    throw Error(Errc::usage,
                fmt::format("{} of a table must be discrete, not {}", what, space.describe()));
  require_within(what, space.size(), 1, most, Errc::data);
  return space.size();
}

std::size_t num_states_of(const StepSource& source) {
  return table_size(source.observation_space(), "number of states", kMaxTableSize);
}

std::size_t num_actions_of(const StepSource& source) {
  return table_size(source.action_space(), "number of actions",
                    kMaxTableSize / num_states_of(source));
}

}  // namespace

struct SourcePaths::Tried {
  std::map<std::tuple<State, Action, State>, double> rewards;
};

SourcePaths::SourcePaths(std::shared_ptr<StepSource> source, const std::vector<State>& terminal,
                         std::string role, std::uint64_t retries)
    : source_(std::move(source)),
      role_(std::move(role)),
      retries_(retries),
      tried_(std::make_shared<Tried>()) {
  const std::size_t num_states = num_states_of(*source_);
  num_actions_of(*source_);
  if (!terminal.empty()) terminal_.assign(num_states, 0);
  for (const State s : terminal) {
    require_within("terminal state", std::uint64_t{s}, 0, num_states - 1, Errc::data);
    terminal_[s] = 1;
  }
}

std::vector<State> SourcePaths::terminal() const {
  std::vector<State> out;
  for (State s = 0; s < terminal_.size(); ++s)
    if (is_terminal(s)) out.push_back(s);
  return out;
}

SourcePaths::Begun SourcePaths::begin(const Stream& stream, std::uint32_t first_step,
                                      const State* at) const {
  if (at != nullptr) return {*at, source_->put(Point(*at), seed_of(stream, first_step))};
  Points out(source_->observation_space());
  source_->reset(seed_of(stream, first_step), out);
  if (out.size() != 1)
    throw Error(Errc::simulator, fmt::format("{}: a reset must give one observation", role_));
  require_in_space(source_->observation_space(), out[0], (role_ + ", the start state").c_str());
  const auto s = static_cast<State>(out[0].index());
  if (is_terminal(s))
    throw Error(
        Errc::simulator,
        fmt::format("{}: the start state is {}, but that is among the terminal ones", role_, s));
  return {s, false};
}

SourcePaths::Taken SourcePaths::take(State s, Action a) const {
  Points out(source_->observation_space());
  const SourceStep step = source_->step(Point(a), out);
  const auto where = [&] { return fmt::format("{}, state {}, action {}: ", role_, s, a); };
  if (out.size() != 1) throw Error(Errc::simulator, where() + "a step must give one observation");
  if (!source_->observation_space().contains(out[0]))  // makes the message only if it is needed
    require_in_space(source_->observation_space(), out[0], (where() + "next state").c_str());
  if (!std::isfinite(step.reward))
    throw Error(Errc::simulator,
                fmt::format("{}reward is {}, but must be a finite number", where(), step.reward));
  const auto next = static_cast<State>(out[0].index());
  return {.next = next,
          .reward = step.reward,
          .ended = step.ended || is_terminal(next),
          .cut = step.cut,
          .cost = step.cost};
}

template <class Begin, class Visit>
bool SourcePaths::run(const Behaviour& policy, const Stream& stream, const StreamAddress& streams,
                      const Horizon& horizon, const StateAction* start, Begin&& begin_at,
                      Visit&& visit) const {
  if (start != nullptr && is_terminal(start->state)) {
    begin_at(start->state);
    return false;
  }
  const SourceEntry entry(*source_);
  const Begun begun = begin(stream, streams.first_step, start != nullptr ? &start->state : nullptr);
  State s = begun.state;
  begin_at(s);
  if (begun.ended) return false;
  for (std::uint32_t t = 0; t < horizon.max_steps; ++t) {
    Rng rng = Rng::of_step(stream, streams.first_step + t + 1);
    const ActionWords words = draw_action_words(rng);
    const Action a =
        t == 0 && start != nullptr ? start->action : policy.choose(s, words.explore, words.action);
    const Taken taken = take(s, a);
    visit(a, taken);
    if (taken.ended) return false;
    if (taken.cut) return true;
    s = taken.next;
  }
  return true;
}

template <class Attempt>
auto SourcePaths::with_retries(Attempt&& attempt) const {
  for (std::uint64_t failed = 0;; ++failed) try {
      return attempt();
    } catch (const Error& e) {
      if (e.code() != Errc::simulator || failed >= retries_) throw;
    }
}

void SourcePaths::record(const Behaviour& policy, const StreamAddress& streams,
                         const Horizon& horizon, const StateAction* start, Episode& episode) const {
  episode.truncated = with_retries([&] {
    return run(
        policy, streams.stream(), streams, horizon, start, [&](State s) { episode.begin(s); },
        [&](Action a, const Taken& taken) {
          episode.append(a, taken.reward, taken.next);
          if (taken.cost) episode.cost = episode.cost.value_or(0) + *taken.cost;
        });
  });
}

RolloutSummary SourcePaths::summarise(const Behaviour& policy, const StreamAddress& streams,
                                      const Horizon& horizon, std::uint32_t pair,
                                      std::uint32_t rollout, const StateAction* start) const {
  return with_retries([&] {
    RolloutSummary summary;
    double discount = 1;
    summary.truncated = run(
        policy, streams.stream(pair, rollout), streams, horizon, start, [](State) {},
        [&](Action, const Taken& taken) {
          summary.discounted_return += discount * taken.reward;
          discount *= horizon.gamma;
          summary.reward_sum += taken.reward;
          ++summary.steps;
        });
    return summary;
  });
}

void SourcePaths::summarise_episodes(const Behaviour& policy, const StreamAddress& streams,
                                     const Horizon& horizon,
                                     std::span<RolloutSummary> summaries) const {
  std::uint32_t rollout = 0;
  for (RolloutSummary& summary : summaries)
    summary = summarise(policy, streams, horizon, 0, rollout++, nullptr);
}

State SourcePaths::reset(const StreamAddress& streams) const {
  const SourceEntry entry(*source_);
  return begin(streams.stream(), streams.first_step, nullptr).state;
}

Step SourcePaths::step(StateAction at, const StreamAddress& streams) const {
  const SourceEntry entry(*source_);
  return with_retries([&]() -> Step {
    // A state that turns out to be terminal is never left, and pays nothing.
    if (begin(streams.stream(), streams.first_step, &at.state).ended)
      return {.next = at.state, .reward = 0, .done = true};
    const Taken taken = take(at.state, at.action);
    return {.next = taken.next, .reward = taken.reward, .done = taken.ended};
  });
}

bool SourcePaths::tells_rewards() const {
  const SourceEntry entry(*source_);
  return source_->tells_rewards();
}

// The reward of the first try that leads to `next`, or the mean of all tries.
double SourcePaths::tried_reward(State s, Action a, State next) const {
  const std::tuple key(s, a, next);
  if (const auto known = tried_->rewards.find(key); known != tried_->rewards.end())
    return known->second;
  constexpr std::uint32_t kTries = 20;
  double sum = 0;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < kTries; ++i) {
    if (source_->put(Point(s), i)) break;
    const Taken taken = take(s, a);
    sum += taken.reward;
    ++count;
    if (taken.next != next) continue;
    sum = taken.reward;
    count = 1;
    break;
  }
  return tried_->rewards[key] = count > 0 ? sum / count : 0;
}

double SourcePaths::reward(State s, Action a, State next) const {
  const SourceEntry entry(*source_);
  if (!source_->tells_rewards()) return with_retries([&] { return tried_reward(s, a, next); });
  const double reward = source_->reward(Point(s), Point(a), Point(next));
  if (!std::isfinite(reward))
    throw Error(Errc::simulator,
                fmt::format("{}: the reward of state {}, action {}, next {} is {}, but must be a "
                            "finite number",
                            role_, s, a, next, reward));
  return reward;
}

SourceEpisodes::SourceEpisodes(SourcePaths paths)
    : EpisodeSimulator(num_states_of(*paths.source()), num_actions_of(*paths.source())),
      paths_(std::move(paths)) {}

void SourceEpisodes::run_episode(const Behaviour& policy, const StreamAddress& streams,
                                 const Horizon& horizon, Episode& episode) const {
  check(policy, streams, horizon, 1, 1);
  paths_.record(policy, streams, horizon, nullptr, episode);
}

void SourceEpisodes::run_episodes(const Behaviour& policy, const StreamAddress& streams,
                                  const Horizon& horizon,
                                  std::span<RolloutSummary> summaries) const {
  check(policy, streams, horizon, 1, summaries.size());
  paths_.summarise_episodes(policy, streams, horizon, summaries);
}

SourceSimulator::SourceSimulator(SourcePaths paths)
    : Simulator(num_states_of(*paths.source()), num_actions_of(*paths.source())),
      paths_(std::move(paths)) {}

Step SourceSimulator::step(StateAction at, const StreamAddress& streams) const {
  check_step(at, streams);
  return paths_.step(at, streams);
}

void SourceSimulator::run_episode(const Behaviour& policy, const StreamAddress& streams,
                                  const Horizon& horizon, Episode& episode) const {
  check(policy, streams, horizon, 1, 1);
  paths_.record(policy, streams, horizon, nullptr, episode);
}

void SourceSimulator::run_episodes(const Behaviour& policy, const StreamAddress& streams,
                                   const Horizon& horizon,
                                   std::span<RolloutSummary> summaries) const {
  check(policy, streams, horizon, 1, summaries.size());
  paths_.summarise_episodes(policy, streams, horizon, summaries);
}

void SourceSimulator::roll_out(const Behaviour& policy, const StreamAddress& streams,
                               const Horizon& horizon, std::span<const StateAction> starts,
                               std::uint32_t rollouts, std::span<RolloutSummary> summaries) const {
  check(policy, streams, horizon, starts.size(), rollouts);
  check_starts(starts, rollouts, summaries);
  std::size_t out = 0;
  for (std::uint32_t i = 0; i < starts.size(); ++i)
    for (std::uint32_t j = 0; j < rollouts; ++j)
      summaries[out++] = paths_.summarise(policy, streams, horizon, i, j, &starts[i]);
}

void SourceSimulator::record(const Behaviour& policy, const StreamAddress& streams,
                             const Horizon& horizon, StateAction start, Episode& episode) const {
  check(policy, streams, horizon, 1, 1);
  check_start(start);
  paths_.record(policy, streams, horizon, &start, episode);
}

}  // namespace hilo
