#include "hilo/model/bayes_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hilo/core/error.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/rollout/shadow.hpp"
#include "hilo/rollout/single_steps.hpp"

namespace hilo {
namespace {

// How often all pairs of the states seen could have been tried before the agent also considers what
// would be unknown without the low fidelity. Where T maps several states to one, the wait is
// shorter, because the low fidelity can at best be right about their mean.
constexpr double kPatience = 3, kPatienceWithManyToOne = 1;

std::size_t pairs_of(const EpisodeSimulator& simulator) {
  return simulator.num_states() * simulator.num_actions();
}

}  // namespace

BayesModel::BayesModel(Fidelities pair, bool use_low)
    : pair_(std::move(pair)),
      use_low_(use_low),
      own_map_(use_low ? std::nullopt
                       : std::optional(StateMap::identity(pair_.high().num_states()))),
      low_counts_(use_low ? pairs_of(pair_.low()) : 0),
      low_end_counts_(low_counts_.num_rows()),
      low_ends_(low_counts_.num_rows()),
      low_reward_go_(low_counts_.num_rows()),
      low_reward_end_(low_counts_.num_rows()),
      counts_(pairs_of(pair_.high())),
      ends_(counts_.num_rows()),
      low_reward_seen_end_(counts_.num_rows()),
      rewards_(counts_.num_rows()),
      arrivals_(pair_.high().num_states()),
      departed_(pair_.high().num_states()),
      ended_there_(pair_.high().num_states()),
      no_end_(use_low ? pair_.low().num_states() : 0),
      slot_(counts_.num_rows()),
      end_priors_{RowPrior(use_low), RowPrior(use_low)},
      successor_prior_(use_low),
      end_alone_(false),
      successor_alone_(false),
      regression_(use_low, 0) {
  for (State l = 0; l < map().num_low_states() && one_to_one_; ++l)
    one_to_one_ = map().high_of(l).size() <= 1;
  refit();
}

std::uint64_t BayesModel::learn_low(std::uint32_t samples, std::uint64_t seed) {
  Moments mean_rewards;
  std::uint64_t steps = 0;
  low_samples_ = samples;
  for (State s = 0; s < pair_.low().num_states(); ++s) {
    if (pair_.low().is_terminal(s)) continue;
    for (Action a = 0; a < pair_.num_actions(); ++a) {
      const std::size_t j = index(s, a);
      for (std::uint32_t k = 0; k < samples; ++k) {
        const Step step = sample_step(pair_.low(), {s, a}, {seed, Purpose::preparation, s, a, k});
        if (step.done) {
          seen_end_rewards_.add(step.reward);
          ++low_ends_[j];
          low_end_counts_.add(j, step.next);
          low_reward_end_[j] += step.reward;
        } else {
          low_counts_.add(j, step.next);
          low_reward_go_[j] += step.reward;
        }
      }
      steps += samples;
      mean_rewards.add((low_reward_go_[j] + low_reward_end_[j]) / samples);
    }
  }
  const auto num_steps = static_cast<double>(steps);
  const double ends = std::accumulate(low_ends_.begin(), low_ends_.end(), 0.0);
  low_chance_of_any_end_ = (ends + 0.5) / (num_steps + 1);
  low_mean_go_pays_ = std::accumulate(low_reward_go_.begin(), low_reward_go_.end(), 0.0) /
                      std::max(1.0, num_steps - ends);
  regression_ = RewardRegression(use_low_, mean_rewards.variance());
  refit();
  return steps;
}

double BayesModel::low_reward(State s, Action a, State next) const {
  if (!use_low_) return 0;
  if (no_end_[map().low_of(next)] != 0) return low_mean_go_pays_;
  return checked_low_reward(map().low_of(s), a, map().low_of(next));
}

double BayesModel::checked_low_reward(State s_lo, Action a, State next_lo) const {
  const double r = pair_.low().reward(s_lo, a, next_lo);
  if (!std::isfinite(r)) throw Error(Errc::simulator, "low fidelity: a reward is not finite");
  return r;
}

std::optional<double> BayesModel::low_chance_of_end(State s, Action a) const {
  if (!use_low_ || pair_.low().is_terminal(map().low_of(s))) return {};
  return static_cast<double>(low_ends_[low_index(s, a)]) / low_samples_;
}

std::optional<double> BayesModel::low_chance(State s, Action a, State next_lo) const {
  const double total = low_total(s, a);
  if (!use_low_ || pair_.low().is_terminal(map().low_of(s)) || total == 0) return {};
  return low_counts_.count(low_index(s, a), next_lo) / total;
}

// Before any data, this is the chance in the low fidelity.
double BayesModel::chance_of_end() const {
  return (num_ends_ + low_chance_of_any_end_) / (num_ends_ + num_arrivals_ + 1);
}

double BayesModel::count_in_block(std::size_t i, State next_lo) const {
  double count = 0;
  for (const auto& successor : counts_.row(i))
    if (map().low_of(successor.next) == next_lo) count += successor.count;
  return count;
}

double BayesModel::base_of_block(State next_lo) const {
  double sum = 0;
  for (const State s : map().high_of(next_lo)) sum += base(s);
  return sum;
}

// The probability of each outcome is evaluated before the outcome is counted.
bool BayesModel::observe_step(const Episode& episode, std::size_t t) {
  const State s = episode.states[t];
  const Action a = episode.actions[t];
  const State next = episode.states[t + 1];
  const std::size_t i = index(s, a);
  const bool ends = episode.ends_at(t);
  const auto visits = static_cast<double>(rewards_[i].count);
  const auto ended = static_cast<double>(ends_[i]);
  if (slot_[i] == 0) {
    end_evidence_.push_back(RowPrior::no_evidence());
    successor_evidence_.push_back(RowPrior::no_evidence());
    slot_[i] = static_cast<std::uint32_t>(end_evidence_.size());
    says_end_.push_back(says_end(low_chance_of_end(s, a)) ? 1 : 0);
  }

  const auto low_end = low_chance_of_end(s, a);
  auto& end_row = end_evidence_[slot_[i] - 1];
  if (ends) {
    RowPrior::observe(ended, visits, low_end, chance_of_end(), end_row);
  } else {
    RowPrior::observe(visits - ended, visits, low_end ? std::optional(1 - *low_end) : low_end,
                      1 - chance_of_end(), end_row);
    const State next_lo = map().low_of(next);
    RowPrior::observe(count_in_block(i, next_lo), visits - ended, low_chance(s, a, next_lo),
                      base_of_block(next_lo), successor_evidence_[slot_[i] - 1]);
  }

  const double x = low_reward(s, a, next);
  regression_.observe(x, episode.rewards[t], rewards_[i]);
  if (departed_[s] == 0) leave(s);
  if (ends) {
    ended_there_[next] = 1;
    ++ends_[i];
    low_reward_seen_end_[i] += x;
    seen_end_rewards_.add(x);
    num_ends_ += 1;
    return false;
  }
  num_arrivals_ += 1;
  arrivals_[next] += 1;
  return counts_.add(i, next);
}

// A state that was left is not terminal, even if T maps it to a terminal state. The low-fidelity
// steps that end in that state then count as steps that go on to it, with the mean reward of steps
// that go on. Nothing changes if an episode has ended in a state with the same image under T.
void BayesModel::leave(State s) {
  departed_[s] = 1;
  num_departed_ += 1;
  const State l = map().low_of(s);
  if (!use_low_ || !pair_.low().is_terminal(l) || no_end_[l] != 0) return;
  for (const State sibling : map().high_of(l))
    if (ended_there_[sibling] != 0) return;
  no_end_[l] = 1;
  corrected_ = true;
  for (State from = 0; from < pair_.low().num_states(); ++from)
    for (Action a = 0; a < pair_.num_actions(); ++a) {
      const std::size_t j = index(from, a);
      const std::uint32_t n = low_end_counts_.count(j, l);
      if (n == 0) continue;
      low_ends_[j] -= n;
      low_reward_end_[j] -= n * checked_low_reward(from, a, l);
      low_reward_go_[j] += n * low_mean_go_pays_;
      for (std::uint32_t k = 0; k < n; ++k) low_counts_.add(j, l);
      for (const State above : map().high_of(from))
        if (const std::uint32_t slot = slot_[index(above, a)]; slot != 0)
          says_end_[slot - 1] = says_end(low_chance_of_end(above, a)) ? 1 : 0;
    }
}

void BayesModel::refit() {
  if (use_low_) refit_alone();
  end_priors_[0].refit(end_evidence_);
  end_priors_[1] = end_priors_[0];
  end_priors_[1].refit(end_evidence_, says_end_, 1);
  successor_prior_.refit(successor_evidence_);
  reward_fit_ = regression_.fit();
  base_end_ = chance_of_end();
  end_rewards_ = seen_end_rewards_;
}

void BayesModel::refit_alone() {
  end_alone_.refit(end_evidence_);
  successor_alone_.refit(successor_evidence_);
  reward_alone_ = regression_.fit_alone();
  const double steps = num_arrivals_ + num_ends_;
  const double patience = one_to_one_ ? kPatience : kPatienceWithManyToOne;
  patience_is_over_ =
      steps > 0 && steps >= patience * num_departed_ * static_cast<double>(pair_.num_actions());
}

bool BayesModel::seems_terminal(State s) const {
  if (departed_[s] != 0) return false;
  return ended_there_[s] != 0 || (use_low_ && pair_.low().is_terminal(map().low_of(s)));
}

BayesModel::Belief BayesModel::belief(State s, Action a) const {
  static const RowPrior::Evidence kNone = RowPrior::no_evidence();
  const std::size_t i = index(s, a);
  const RewardMeans& rewards = rewards_[i];
  const auto visits = static_cast<double>(rewards.count);
  const auto ended = static_cast<double>(ends_[i]);
  const auto low_end = low_chance_of_end(s, a);
  const double low_goes = low_end ? low_total(s, a) : 0;
  Belief b{};

  const auto end = end_priors_[says_end(low_end) ? 1 : 0].weights(
      visits, low_end.has_value(), slot_[i] == 0 ? kNone : end_evidence_[slot_[i] - 1]);
  b.end = ended * end.count + low_end.value_or(0) * end.low + base_end_ * end.base;
  b.end_variance = b.end * (1 - b.end) * end.variance;
  const auto& successor_evidence = slot_[i] == 0 ? kNone : successor_evidence_[slot_[i] - 1];
  b.successor = successor_prior_.weights(visits - ended, low_goes > 0, successor_evidence);

  // x is the expected reward of the low fidelity. Its own samples stand for high-fidelity steps not
  // yet made. Which end a step leads to is as uncertain as which successor. If no sample of the
  // pair ends, the reward of an end is that of the pair's other samples; if all of them end, the
  // reward of a step that goes on is the mean over all such steps.
  double x_end = 0, x_go = 0, x_end_variance = 0;
  if (low_end) {
    const std::size_t j = low_index(s, a);
    const double low_end_pays = low_reward_end_[j] / std::max(1U, low_ends_[j]);
    const double low_go_pays = low_goes > 0 ? low_reward_go_[j] / low_goes : low_mean_go_pays_;
    const auto which_end = successor_prior_.weights(ended, true, successor_evidence);
    x_end_variance = end_rewards_.variance() * which_end.variance;
    x_end = low_reward_seen_end_[i] * which_end.count +
            (low_ends_[j] > 0 ? low_end_pays : low_go_pays) * (which_end.low + which_end.base);
    x_go = (rewards.x * visits - low_reward_seen_end_[i]) * b.successor.count +
           low_go_pays * (b.successor.low + b.successor.base);
  } else {
    x_end = x_go = visits > 0 ? rewards.x : reward_fit_.mean_x;
  }
  const double x = b.end * x_end + (1 - b.end) * x_go;
  b.reward = reward_fit_.offset + reward_fit_.slope * x + reward_fit_.effect(rewards);
  b.reward_variance = reward_fit_.variance_of_effect(visits) +
                      b.end * b.end * reward_fit_.slope * reward_fit_.slope * x_end_variance;
  b.end_penalty = reward_fit_.slope * (x_go - x_end);
  return b;
}

BayesModel::Belief BayesModel::belief_alone(State s, Action a) const {
  static const RowPrior::Evidence kNone = RowPrior::no_evidence();
  const std::size_t i = index(s, a);
  const auto visits = static_cast<double>(rewards_[i].count);
  const auto ended = static_cast<double>(ends_[i]);
  const bool seen = slot_[i] != 0;
  Belief b{};
  const auto end = end_alone_.weights(visits, false, seen ? end_evidence_[slot_[i] - 1] : kNone);
  b.end = ended * end.count + base_end_ * end.base;
  b.end_variance = b.end * (1 - b.end) * end.variance;
  b.successor = successor_alone_.weights(visits - ended, false,
                                         seen ? successor_evidence_[slot_[i] - 1] : kNone);
  b.reward = reward_alone_.offset + reward_alone_.effect(rewards_[i]);
  b.reward_variance = reward_alone_.variance_of_effect(visits);
  return b;
}

}  // namespace hilo
