// One back-up of Bayes: a pair's value in the mean and in the optimistic model.
#include <algorithm>
#include <cmath>

#include "hilo/agent/bayes.hpp"

namespace hilo {
namespace {

// After this many visits of a pair, the values with and without the low fidelity count equally.
constexpr double kOverruled = 5;

}  // namespace

void Bayes::back_up(State s, Action a) {
  const BayesModel::Belief& b = beliefs_[index(s, a)];

  // Mean, mean square and optimistic value of the successor if the step does not end.
  ValueMoments next;
  if (b.successor.low > 0) {
    for (const auto& successor : model_.low_successors(s, a))
      next.add(successor.count, low_values_[successor.next]);
    next.scale(b.successor.low / model_.low_total(s, a));
  }
  next.add(b.successor.base, base_value_);
  ValueMoments seen;
  for (const auto& successor : model_.successors(s, a))
    seen.add(successor.count, values_[successor.next].moments());
  next.add(b.successor.count, seen);
  if (!one_to_one_) sharpen(s, a, b.successor, next);

  q_.set(s, a, mean_value(b, next));
  optimistic_.set(s, a, optimistic_value(b, next));
  if (model_.patience_is_over()) heed_high_alone(s, a, seen);
}

// Used once patience_is_over(): a pair that would be unknown without the low fidelity counts as
// unknown, and the more often a pair was visited, the less the low fidelity influences its value.
void Bayes::heed_high_alone(State s, Action a, const ValueMoments& seen) {
  const BayesModel::Belief& b = beliefs_alone_[index(s, a)];
  ValueMoments next;
  next.add(b.successor.base, base_value_);
  next.add(b.successor.count, seen);
  optimistic_.set(s, a, std::max(optimistic_(s, a), optimistic_value(b, next)));
  const auto n = static_cast<double>(model_.visits(s, a));
  const double share = n / (n + kOverruled);
  q_.set(s, a, (1 - share) * q_(s, a) + share * mean_value(b, next));
}

double Bayes::mean_value(const BayesModel::Belief& b, const ValueMoments& next) const {
  return b.reward + options_.gamma * (1 - b.end) * next.mean;
}

// The variance is that of r + gamma (1 - end) E[V] under the posterior: the sum of the parts of the
// reward, of the end and of the successor.
double Bayes::optimistic_value(const BayesModel::Belief& b, const ValueMoments& next) const {
  const double go = options_.gamma * (1 - b.end);
  const double if_goes_on = b.end_penalty + options_.gamma * next.mean;
  const double variance =
      b.reward_variance + b.end_variance * if_goes_on * if_goes_on +
      go * go * std::max(0.0, next.square - next.mean * next.mean) * b.successor.variance;
  return b.reward + go * next.optimistic + options_.optimism * std::sqrt(variance);
}

// Where T is many-to-one, the successors seen also show how the chance of a low-fidelity state is
// distributed over the states that T maps there: by the n steps that led into it, with a uniform
// prior over these states that is worth kWithin steps.
void Bayes::sharpen(State s, Action a, const RowPrior::Weights& weights, ValueMoments& next) const {
  const StateMap& map = model_.map();
  const auto successors = model_.successors(s, a);
  for (std::size_t k = 0; k < successors.size(); ++k) {
    const State l = map.low_of(successors[k].next);
    bool first = true;
    for (std::size_t m = 0; m < k && first; ++m) first = map.low_of(successors[m].next) != l;
    if (!first) continue;
    ValueMoments seen;
    double n = 0;
    for (std::size_t m = k; m < successors.size(); ++m) {
      if (map.low_of(successors[m].next) != l) continue;
      seen.add(successors[m].count, values_[successors[m].next].moments());
      n += successors[m].count;
    }
    // The chance of the low-fidelity state is n count + low p + ... . Its value given that state is
    // within = (seen + kWithin mean) / (n + kWithin). So far `next` has the mean for the part low p
    // and seen / n for the part n count; `within` replaces both.
    const double p = weights.low * model_.low_chance(s, a, l).value_or(0);
    ValueMoments within = seen;
    within.add(BayesModel::kWithin, low_values_[l]);
    within.scale(1 / (n + BayesModel::kWithin));
    next.add(p + n * weights.count, within);
    next.add(-p, low_values_[l]);
    next.add(-weights.count, seen);
  }
}

}  // namespace hilo
