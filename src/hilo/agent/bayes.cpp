#include "hilo/agent/bayes.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/shared_parameters.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {
namespace {

// A change of a value is passed on once it is larger than this share of the largest value.
constexpr double kTolerance = 1e-3;
// The same for the base value, which affects all rows equally and so hardly changes the ranking of
// actions.
constexpr double kBaseTolerance = 1e-2;
// The model is refitted when the number of episodes has grown by this factor.
constexpr double kRefitGrowth = 1.1;
// The number of back-ups after an episode is half the number of states, but at least this. States
// beyond that wait in the queue.
constexpr std::size_t kBackups = 20'000;
constexpr std::size_t kMostBackups = 1000;  // for each state, before the first episode
// After this many cut episodes, repeated steps count half as much.
constexpr double kCircling = 10;

// The list is sorted, so that its order does not depend on which state was seen first.
void add_once(std::vector<State>& list, State s) {
  const auto place = std::ranges::lower_bound(list, s);
  if (place == list.end() || *place != s) list.insert(place, s);
}

std::uint32_t samples_for(const BayesOptions& options, const Simulator& low) {
  const std::uint64_t pairs = low.num_states() * low.num_actions();
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(options.low_steps / pairs, 1, options.low_samples));
}

}  // namespace

Bayes::Bayes(Fidelities pair, const BayesOptions& options, std::uint64_t seed)
    : model_(std::move(pair), options.use_low),
      options_(options),
      seed_(seed),
      q_(model_.pair().high().num_states(), model_.pair().num_actions()),
      optimistic_(q_.num_states(), q_.num_actions()),
      beliefs_(q_.num_states() * q_.num_actions()),
      beliefs_alone_(options.use_low ? beliefs_.size() : 0),
      values_(q_.num_states()),
      low_values_(model_.map().num_low_states()),
      queued_(q_.num_states()),
      predecessors_(q_.num_states()),
      low_predecessors_(low_values_.size()),
      visits_(q_.num_states(), q_.num_actions()) {
  if (!(options.gamma >= 0 && options.gamma < 1))
    throw Error(Errc::spec, "bayes plans with discounting: gamma must be in [0, 1)");
  for (State l = 0; l < low_values_.size() && one_to_one_; ++l)
    one_to_one_ = model_.map().high_of(l).size() <= 1;
  require_within("optimism", options.optimism, 0, 100);
  require_within("low_steps", options.low_steps, 1, 1'000'000'000'000);
  require_within("low_samples", std::uint64_t{options.low_samples}, 1, 1'000'000);
}

LearnReport Bayes::prepare() {
  LearnReport report;
  if (prepared_) return report;
  if (options_.use_low) {
    const Simulator& low = model_.pair().low();
    report.low_steps += model_.learn_low(samples_for(options_, low), seed_);
    link_low_model();
  }
  prepared_ = true;
  refit();
  plan(kMostBackups * values_.size());
  return report;
}

LearnReport Bayes::learn(const Episode& episode) {
  check_episode(episode, q_.num_states(), q_.num_actions());
  const LearnReport report = prepare();
  model_.observe(episode, [this](State s, State next) { link(s, next); });
  for (std::size_t t = 0; t < episode.length(); ++t) believe(episode.states[t], episode.actions[t]);
  if (model_.seems_terminal(episode.states.back())) set_terminal(episode.states.back());
  for (std::size_t t = episode.length(); t-- > 0;) back_up(episode.states[t]);
  ++episodes_;
  const bool corrected = model_.take_correction();
  if (corrected) link_low_model();
  if (corrected || episodes_ >= next_refit_) {
    refit();
    next_refit_ = std::max(
        episodes_ + 1,
        static_cast<std::uint64_t>(std::ceil(kRefitGrowth * static_cast<double>(episodes_))));
  }
  plan(std::max(kBackups, values_.size() / 2));
  explore_after(episode);
  return report;
}

// A plan does not change during an episode. An episode that went in circles until it was cut has
// shown little that is new, and the next one may do the same. So the next episode takes random
// actions with a probability equal to the share of repeated steps. Where episodes never end,
// repetitions do not mean circles, so this probability fades with the number of cut episodes.
void Bayes::explore_after(const Episode& episode) {
  explores_ = 0;
  if (!episode.truncated || episode.length() == 0) return;
  const auto distinct = static_cast<double>(visits_.find(episode).size());
  const double repeated = 1 - distinct / static_cast<double>(episode.length());
  explores_ = repeated * kCircling / (kCircling + static_cast<double>(cut_episodes_));
  ++cut_episodes_;
}

// New prior strengths and a new regression change every row, and often move all values in the same
// direction. If one sweep then moves them by d on average, later sweeps would move them by
// d go_on + d go_on^2 + ...; this sum is added at once.
void Bayes::refit() {
  model_.refit();
  double go_on = 0;
  for (State s = 0; s < values_.size(); ++s)
    for (Action a = 0; a < q_.num_actions(); ++a) {
      believe(s, a);
      go_on += options_.gamma * (1 - beliefs_[index(s, a)].end);
    }
  go_on /= static_cast<double>(beliefs_.size());

  summarise_values();
  largest_value_ = 0;
  Moments mean, optimistic;
  for (State s = 0; s < values_.size(); ++s) {
    if (model_.seems_terminal(s)) continue;
    const Value before = values_[s];
    back_up(s);
    mean.add(values_[s].mean - before.mean);
    optimistic.add(values_[s].optimistic - before.optimistic);
  }
  const auto later = [&](const Moments& change) {
    const double square = change.mean() * change.mean();
    return square > change.variance() ? change.mean() * go_on / (1 - go_on) : 0;
  };
  for (State s = 0; s < values_.size(); ++s) {
    if (model_.seems_terminal(s)) continue;
    Value& v = values_[s];
    v.known_mean = v.mean += later(mean);
    v.known_optimistic = v.optimistic += later(optimistic);
    enqueue(s);
  }
  summarise_values();
}

void Bayes::believe(State s, Action a) {
  beliefs_[index(s, a)] = model_.belief(s, a);
  if (options_.use_low) beliefs_alone_[index(s, a)] = model_.belief_alone(s, a);
}

void Bayes::summarise_values() {
  const StateMap& map = model_.map();
  base_value_ = {};
  for (State s = 0; s < values_.size(); ++s) base_value_.add(model_.base(s), values_[s].moments());
  for (State l = 0; l < low_values_.size(); ++l) {
    const auto above = map.high_of(l);
    low_values_[l] = above.empty() ? base_value_ : ValueMoments{};
    for (const State s : above)
      low_values_[l].add(1 / static_cast<double>(above.size()), values_[s].moments());
  }
}

void Bayes::link(State s, State next) { add_once(predecessors_[next], s); }

void Bayes::link_low_model() {
  const std::size_t num_actions = q_.num_actions();
  for (std::size_t j = 0; j < model_.low_counts().num_rows(); ++j)
    for (const auto& successor : model_.low_counts().row(j))
      add_once(low_predecessors_[successor.next], static_cast<State>(j / num_actions));
}

void Bayes::enqueue(State s) {
  if (queued_[s] != 0 || model_.seems_terminal(s)) return;
  queued_[s] = 1;
  queue_.push_back(s);
}

// Value iteration from the current values, only for the states that a change affects, in the order
// in which they were queued.
void Bayes::plan(std::size_t most) {
  for (std::size_t done = 0; done < most && !queue_.empty(); ++done) {
    const State s = queue_.front();
    queue_.pop_front();
    queued_[s] = 0;
    back_up(s);
  }
}

void Bayes::announce(State s) {
  Value& v = values_[s];
  v.known_mean = v.mean;
  v.known_optimistic = v.optimistic;
  const StateMap& map = model_.map();
  // Where T is many-to-one, predecessors of other states with the same image are affected too.
  for (const State sibling : map.high_of(map.low_of(s)))
    for (const State p : predecessors_[sibling]) enqueue(p);
  for (const State l : low_predecessors_[map.low_of(s)])
    for (const State p : map.high_of(l)) enqueue(p);
}

void Bayes::set_terminal(State s) {
  for (Action a = 0; a < q_.num_actions(); ++a) {
    q_.set(s, a, 0);
    optimistic_.set(s, a, 0);
  }
  take_values(s);
}

void Bayes::back_up(State s) {
  for (Action a = 0; a < q_.num_actions(); ++a) back_up(s, a);
  take_values(s);
}

// Sets the values of a state from those of its actions, and announces them if they have changed
// enough.
void Bayes::take_values(State s) {
  Value& v = values_[s];
  const State l = model_.map().low_of(s);
  const double share = 1 / static_cast<double>(model_.map().high_of(l).size());
  const double base = model_.base(s);
  low_values_[l].add(-share, v.moments());
  base_value_.add(-base, v.moments());
  v.mean = q_.best(s);
  v.optimistic = optimistic_.best(s);
  low_values_[l].add(share, v.moments());
  base_value_.add(base, v.moments());
  largest_value_ = std::max({largest_value_, std::abs(v.mean), std::abs(v.optimistic)});
  const double change =
      std::max(std::abs(v.mean - v.known_mean), std::abs(v.optimistic - v.known_optimistic));
  if (change > kTolerance * largest_value_) announce(s);
  const double base_change = std::max(std::abs(base_value_.mean - known_base_.mean),
                                      std::abs(base_value_.optimistic - known_base_.optimistic));
  if (base_change > kBaseTolerance * largest_value_) announce_base();
}

// The base value is part of every row, so that all states are queued.
void Bayes::announce_base() {
  known_base_ = base_value_;
  for (State s = 0; s < values_.size(); ++s) enqueue(s);
}

std::vector<Fact> Bayes::findings() const {
  const RewardFit& reward = model_.reward_fit();
  return {{"trust_low_ends", model_.trust_in_low_ends()},
          {"trust_low_successors", model_.trust_in_low_successors()},
          {"reward_slope", reward.slope},
          {"reward_sd", std::sqrt(reward.pair_variance)}};
}

namespace {

ParameterInfo optimism_parameter() {
  return {.name = "optimism",
          .description = "standard deviations that the unknown is rated above its mean",
          .default_value = 2.0,
          .low = 0,
          .high = 100};
}

std::vector<FactInfo> finding_infos() {
  return {{.name = "trust_low_ends",
           .description = "weight of the low fidelity's chance of an end at a new pair, 0 to 1"},
          {.name = "trust_low_successors",
           .description = "weight of the low fidelity's successors at a new pair, 0 to 1"},
          {.name = "reward_slope", .description = "of high-fidelity rewards on low-fidelity ones"},
          {.name = "reward_sd",
           .description = "standard deviation over pairs of what that slope does not explain"}};
}

}  // namespace

AgentKind bayes_kind() {
  return {.name = "bayes",
          .display = "Bayes",
          .description = "plans in a model of the high fidelity with the low fidelity as its prior",
          .parameters = {optimism_parameter(),
                         low_steps_parameter(
                             "to learn the low fidelity's model, at most, but one for each pair"),
                         {.name = "low_samples",
                          .description = "of them for each pair, at most",
                          .default_value = std::int64_t{1000},
                          .low = 1,
                          .high = 1e6}},
          .needs = {.low = LowFidelities::one, .gamma_below_1 = true},
          .learns_from_any_policy = true,
          .for_slow_low_fidelity = {{"low_samples", std::int64_t{30}}},
          .algorithm_version = Bayes::kAlgorithmVersion,
          .build = [](const Fidelities& fidelities, const Parameters& p,
                      const AgentSetting& setting) -> std::unique_ptr<TabularAgent> {
            const BayesOptions options = {
                .gamma = setting.gamma,
                .optimism = p.number("optimism"),
                .use_low = true,
                .low_steps = static_cast<std::uint64_t>(p.integer("low_steps")),
                .low_samples = static_cast<std::uint32_t>(p.integer("low_samples"))};
            return std::make_unique<Bayes>(fidelities, options, setting.seed);
          },
          .findings = finding_infos()};
}

AgentKind bayes_high_kind() {
  return {.name = "bayes-high",
          .display = "Bayes-high",
          .description = "the same without a low fidelity",
          .parameters = {optimism_parameter()},
          .needs = {.gamma_below_1 = true},
          .learns_from_any_policy = true,
          .algorithm_version = Bayes::kAlgorithmVersion,
          .build = [](const Fidelities& fidelities, const Parameters& p,
                      const AgentSetting& setting) -> std::unique_ptr<TabularAgent> {
            const BayesOptions options = {
                .gamma = setting.gamma, .optimism = p.number("optimism"), .use_low = false};
            return std::make_unique<Bayes>(fidelities, options, setting.seed);
          },
          .findings = finding_infos()};
}

}  // namespace hilo
