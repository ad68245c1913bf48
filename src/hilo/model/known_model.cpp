#include "hilo/model/known_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

// A plan is stale after 1/50 more steps or 1/100 more known pairs. Early on, every step makes it
// stale.
constexpr std::uint64_t kStepGrowth = 50, kKnownGrowth = 100;

}  // namespace

KnownModel::KnownModel(std::size_t num_states, std::size_t num_actions,
                       const KnownModelOptions& options)
    : options_(options),
      counts_(num_states * num_actions),
      visits_(num_states * num_actions),
      rewards_(num_states * num_actions),
      optimistic_(num_states, num_actions),
      cautious_(num_states, num_actions) {
  if (!(options.gamma >= 0 && options.gamma < 1))
    throw Error(Errc::spec, "R-max plans with discounting: gamma must be in [0, 1)");
  require_within("known_after", std::uint64_t{options.known_after}, 1, 1'000'000);
  require_within("value_max", options.value_max, -1e9, 1e9);
  if (!(options.value_min >= -1e9 && options.value_min < options.value_max))
    throw Error(Errc::spec, fmt::format("value_min is {}, but must be below value_max, {}",
                                        options.value_min, options.value_max));
  optimistic_.assign(std::vector<double>(visits_.size(), options.value_max));
  cautious_.assign(std::vector<double>(visits_.size(), options.value_min));
}

void KnownModel::observe(State s, Action a, double reward, State next, bool ends) {
  const std::size_t i = index(s, a);
  ++visits_[i];
  ++steps_;
  rewards_[i] += reward;
  if (!ends) counts_.add(i, next);
  if (visits_[i] == options_.known_after) known_pairs_.push_back({s, a});
}

void KnownModel::bound(State s, Action a, double upper) {
  if (!known(s, a)) optimistic_.set(s, a, std::min(upper, options_.value_max));
}

void KnownModel::plan() {
  next_steps_ = steps_ + 1 + steps_ / kStepGrowth;
  next_known_ = known_pairs_.size() + 1 + known_pairs_.size() / kKnownGrowth;
  for (double change = tolerance() + 1; change > tolerance();) {
    change = 0;
    for (const auto [s, a] : known_pairs_) {
      const double high = back_up(s, a, [&](State next) { return optimistic_.best(next); });
      const double low = back_up(s, a, [&](State next) { return cautious_.best(next); });
      change =
          std::max({change, std::abs(high - optimistic_(s, a)), std::abs(low - cautious_(s, a))});
      optimistic_.set(s, a, high);
      cautious_.set(s, a, low);
    }
  }
}

double KnownModel::largest_excess(const QTable& guess, const StateMap& map) const {
  std::vector<double> surplus;
  for (const auto [s, a] : known_pairs_)
    surplus.push_back(back_up(s, a, [&](State next) { return guess.best(map.low_of(next)); }) -
                      guess(map.low_of(s), a) - mean_reward(s, a));
  QTable excess(optimistic_.num_states(), optimistic_.num_actions());
  double largest = 0;
  for (double change = tolerance() + 1; change > tolerance();) {
    change = largest = 0;
    for (std::size_t k = 0; k < known_pairs_.size(); ++k) {
      const auto [s, a] = known_pairs_[k];
      const double d = surplus[k] + back_up(s, a, [&](State next) { return excess.best(next); });
      change = std::max(change, std::abs(d - excess(s, a)));
      largest = std::max(largest, d);
      excess.set(s, a, d);
    }
  }
  return largest;
}

void KnownModel::save(ArchiveWriter& out) const {
  out.value(options_.gamma);
  out.value(options_.known_after);
  out.value(options_.value_min);
  out.value(options_.value_max);
  counts_.save(out);
  out.array<std::uint32_t>(visits_);
  out.array<double>(rewards_);
  out.array<StateAction>(known_pairs_);
  out.value(steps_);
  out.value(next_steps_);
  out.value(next_known_);
  out.array<double>(optimistic_.values());
  out.array<double>(cautious_.values());
}

void KnownModel::load(ArchiveReader& in) {
  in.expect("gamma", options_.gamma);
  in.expect("known_after", options_.known_after);
  in.expect("value_min", options_.value_min);
  in.expect("value_max", options_.value_max);
  counts_.load(in, optimistic_.num_states());
  in.array<std::uint32_t>("number of pairs", visits_);
  in.array<double>("number of pairs", rewards_);
  known_pairs_ = in.list<StateAction>("number of known pairs", visits_.size());
  for (const auto [s, a] : known_pairs_)
    if (s >= optimistic_.num_states() || a >= optimistic_.num_actions() || !known(s, a))
      ArchiveReader::mismatch("list of known pairs");
  steps_ = in.value<std::uint64_t>();
  next_steps_ = in.value<std::uint64_t>();
  next_known_ = in.value<std::uint64_t>();
  std::vector<double> q(visits_.size());
  in.array<double>("number of Q values", q);
  optimistic_.assign(q);
  in.array<double>("number of Q values", q);
  cautious_.assign(q);
}

}  // namespace hilo
