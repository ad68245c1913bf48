#include "hilo/agent/bayes.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/rollout/shadow.hpp"

namespace hilo {
namespace {

// A change of a value is passed on once it is larger than this share of the largest value.
constexpr double kTolerance = 3e-4;
// Everything is fitted anew when there is so much more data.
constexpr double kRefitGrowth = 1.05;
// So many back-ups of every state at most after an episode; the rest waits.
constexpr std::size_t kSweeps = 1000;

void add_once(std::vector<State>& list, State s) {
  if (std::ranges::find(list, s) == list.end()) list.push_back(s);
}

std::uint32_t samples_for(const BayesOptions& options, const Simulator& low) {
  const std::uint64_t pairs = low.num_states() * low.num_actions();
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(options.low_steps / pairs, 1, options.low_samples));
}

}  // namespace

Bayes::Bayes(FidelityPair pair, const BayesOptions& options, std::uint64_t seed)
    : model_(std::move(pair), options.use_low),
      options_(options),
      seed_(seed),
      q_(model_.pair().high().num_states(), model_.pair().num_actions()),
      optimistic_(q_.num_states(), q_.num_actions()),
      deviation_(q_.num_states() * q_.num_actions()),
      beliefs_(deviation_.size()),
      values_(q_.num_states()),
      low_values_(model_.pair().low().num_states()),
      queued_(q_.num_states()),
      predecessors_(q_.num_states()),
      low_predecessors_(low_values_.size()) {
  if (!(options.gamma >= 0 && options.gamma < 1))
    throw Error(Errc::spec, "bayes plans with discounting: gamma must be in [0, 1)");
  for (State l = 0; l < low_values_.size() && one_to_one_; ++l)
    one_to_one_ = model_.pair().map().high_of(l).size() <= 1;
  require_within("optimism", options.optimism, 0, 100);
  require_within("low_steps", options.low_steps, 1, 1'000'000'000'000);
  require_within("low_samples", std::uint64_t{options.low_samples}, 1, 1'000'000);
}

LearnReport Bayes::prepare() {
  LearnReport report;
  if (prepared_) return report;
  if (options_.use_low) {
    const Simulator& low = model_.pair().low();
    model_.learn_low(samples_for(options_, low), seed_, report);
    link_low_model();
  }
  prepared_ = true;
  refit();
  plan();
  return report;
}

LearnReport Bayes::learn(const Episode& episode) {
  check_episode(episode, q_.num_states(), q_.num_actions());
  const LearnReport report = prepare();
  model_.observe(episode, [this](State s, State next) { link(s, next); });
  for (std::size_t t = 0; t < episode.length(); ++t) {
    const State s = episode.states[t];
    const Action a = episode.actions[t];
    beliefs_[index(s, a)] = model_.belief(s, a);
    enqueue(s);
  }
  ++episodes_;
  if (episodes_ >= next_refit_) {
    refit();
    next_refit_ = std::max(
        episodes_ + 1,
        static_cast<std::uint64_t>(std::ceil(kRefitGrowth * static_cast<double>(episodes_))));
  }
  plan();
  return report;
}

// New strengths and a new regression change every row.
void Bayes::refit() {
  model_.refit();
  const StateMap& map = model_.pair().map();
  base_value_ = {};
  for (State s = 0; s < values_.size(); ++s) {
    const double p = model_.base(s);
    base_value_.mean += p * values_[s].mean;
    base_value_.square += p * values_[s].mean * values_[s].mean;
    base_value_.optimistic += p * values_[s].optimistic;
  }
  for (State l = 0; l < low_values_.size(); ++l) {
    const auto above = map.high_of(l);
    low_values_[l] = above.empty() ? base_value_ : LowValue{};
    for (const State s : above) {
      const auto n = static_cast<double>(above.size());
      low_values_[l].mean += values_[s].mean / n;
      low_values_[l].square += values_[s].mean * values_[s].mean / n;
      low_values_[l].optimistic += values_[s].optimistic / n;
    }
  }
  for (State s = 0; s < values_.size(); ++s) {
    for (Action a = 0; a < q_.num_actions(); ++a) beliefs_[index(s, a)] = model_.belief(s, a);
    enqueue(s);
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

// Value iteration from where it stood, for those states alone that a change concerns: first in,
// first out.
void Bayes::plan() {
  const std::size_t most = kSweeps * values_.size();
  std::size_t done = 0;
  for (; done < queue_.size() && done < most; ++done) {
    const State s = queue_[done];
    queued_[s] = 0;
    back_up(s);
    const Value& v = values_[s];
    const double change = std::max(std::abs(v.mean - v.known_mean),
                                   std::abs(v.optimistic - v.known_optimistic));
    if (change > kTolerance * largest_value_) announce(s);
  }
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(done));
}

void Bayes::announce(State s) {
  Value& v = values_[s];
  v.known_mean = v.mean;
  v.known_optimistic = v.optimistic;
  for (const State p : predecessors_[s]) enqueue(p);
  const StateMap& map = model_.pair().map();
  for (const State l : low_predecessors_[map.low_of(s)])
    for (const State p : map.high_of(l)) enqueue(p);
}

void Bayes::back_up(State s) {
  for (Action a = 0; a < q_.num_actions(); ++a) back_up(s, a);
  Value& v = values_[s];
  const double mean = q_.best(s), optimistic = optimistic_.best(s);
  const State l = model_.pair().map().low_of(s);
  const auto n = static_cast<double>(model_.pair().map().high_of(l).size());
  LowValue& low = low_values_[l];
  low.mean += (mean - v.mean) / n;
  low.square += (mean * mean - v.mean * v.mean) / n;
  low.optimistic += (optimistic - v.optimistic) / n;
  v.mean = mean;
  v.optimistic = optimistic;
  largest_value_ = std::max({largest_value_, std::abs(mean), std::abs(optimistic)});
}

void Bayes::back_up(State s, Action a) {
  const BayesModel::Belief& b = beliefs_[index(s, a)];

  // Mean, mean square and optimistic value of the successor, if the step does not end
  LowValue next;
  if (b.successor.low > 0) {
    for (const auto& successor : model_.low_successors(s, a))
      next.add(successor.count, low_values_[successor.next]);
    next.scale(b.successor.low / model_.low_total(s, a));
  }
  next.add(b.successor.base, base_value_);
  for (const auto& successor : model_.successors(s, a)) {
    const Value& v = values_[successor.next];
    next.add(b.successor.count * successor.count, {v.mean, v.mean * v.mean, v.optimistic});
  }
  if (!one_to_one_ && b.successor.low > 0) sharpen(s, a, b.successor, next);

  // The posterior's variance of r + gamma (1 - end) E[V]: of the reward, of the end, of the
  // successor
  const double go = options_.gamma * (1 - b.end);
  const double if_goes_on = b.end_penalty + options_.gamma * next.mean;
  const double variance = b.reward_variance + b.end_variance * if_goes_on * if_goes_on +
                          go * go * std::max(0.0, next.square - next.mean * next.mean) *
                              b.successor.variance;
  const double deviation = std::sqrt(variance);
  deviation_[index(s, a)] = deviation;
  q_.set(s, a, b.reward + go * next.mean);
  optimistic_.set(s, a, b.reward + go * next.optimistic + options_.optimism * deviation);
}

// Where T is many-to-one, the states seen say also which of a low-fidelity state's states the others
// would be: of the n steps that led into it, one to each of its states is thought to be missing,
// together worth kWithin.
void Bayes::sharpen(State s, Action a, const RowPrior::Weights& weights, LowValue& next) const {
  const StateMap& map = model_.pair().map();
  const auto successors = model_.successors(s, a);
  for (std::size_t k = 0; k < successors.size(); ++k) {
    const State l = map.low_of(successors[k].next);
    bool first = true;
    for (std::size_t m = 0; m < k && first; ++m) first = map.low_of(successors[m].next) != l;
    if (!first) continue;
    LowValue seen;
    double n = 0;
    for (std::size_t m = k; m < successors.size(); ++m) {
      if (map.low_of(successors[m].next) != l) continue;
      const Value& v = values_[successors[m].next];
      seen.add(successors[m].count, {v.mean, v.mean * v.mean, v.optimistic});
      n += successors[m].count;
    }
    // Chance of the low-fidelity state: n count + low p + ..., of which n count is placed already.
    // within = (seen + kWithin mean) / (n + kWithin); the mean stands there now for low p, seen / n
    // for n count.
    const double p = weights.low * model_.low_chance(s, a, l).value_or(0);
    LowValue within = seen;
    within.add(BayesModel::kWithin, low_values_[l]);
    within.scale(1 / (n + BayesModel::kWithin));
    next.add(p + n * weights.count, within);
    next.add(-p, low_values_[l]);
    next.add(-weights.count, seen);
  }
}

std::vector<Fact> Bayes::findings() const {
  const RewardFit& reward = model_.reward_fit();
  return {{"trust_low_ends", model_.trust_in_low_ends()},
          {"trust_low_successors", model_.trust_in_low_successors()},
          {"reward_slope", reward.slope},
          {"reward_sd", std::sqrt(reward.pair_variance)}};
}

}  // namespace hilo
