#include "hilo/policy/q_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hilo/core/error.hpp"

namespace hilo {

QTable::QTable(std::size_t num_states, std::size_t num_actions) : num_actions_(num_actions) {
  require_within("number of states", num_states, 1, kMaxTableSize);
  require_within("number of actions", num_actions, 1, kMaxTableSize / num_states);
  values_.assign(num_states * num_actions, 0);
  best_.assign(num_states, 0);
  heads_.assign(num_states, {static_cast<std::uint32_t>(num_actions), 0});
  ties_.resize(num_states * num_actions);
  for (std::size_t s = 0; s < num_states; ++s) {
    const auto row = std::span(ties_).subspan(s * num_actions, num_actions);
    std::iota(row.begin(), row.end(), Action{0});
  }
}

void QTable::set(State s, Action a, double value) {
  if (!std::isfinite(value))
    throw Error(Errc::data,
                fmt::format("Q of state {}, action {} is {}, but must be finite", s, a, value));
  double& stored = values_[s * num_actions_ + a];
  const double old = stored;
  if (value == old) return;
  stored = value;

  GreedyHead& head = heads_[s];
  const auto row = ties_.begin() + static_cast<std::ptrdiff_t>(s * num_actions_);
  const auto end = row + head.count;
  if (value > best_[s]) {
    best_[s] = value;
    row[0] = a;
    head = {1, a};
  } else if (value == best_[s]) {
    const auto place = std::lower_bound(row, end, a);
    std::copy_backward(place, end, end + 1);
    *place = a;
    head = {head.count + 1, row[0]};
  } else if (old == best_[s] && head.count > 1) {
    const auto place = std::lower_bound(row, end, a);
    std::copy(place + 1, end, place);
    head = {head.count - 1, row[0]};
  } else if (old == best_[s]) {
    rescan(s);
  }
}

void QTable::assign(std::span<const double> values) {
  if (values.size() != values_.size() ||
      !std::ranges::all_of(values, [](double q) { return std::isfinite(q); }))
    throw Error(Errc::data, fmt::format("{} Q values are needed, all finite", values_.size()));
  std::ranges::copy(values, values_.begin());
  for (State s = 0; s < num_states(); ++s) rescan(s);
}

void QTable::rescan(State s) {
  const auto row = std::span(values_).subspan(s * num_actions_, num_actions_);
  const auto ties = std::span(ties_).subspan(s * num_actions_, num_actions_);
  best_[s] = *std::ranges::max_element(row);
  std::uint32_t count = 0;
  for (Action a = 0; a < num_actions_; ++a)
    if (row[a] == best_[s]) ties[count++] = a;
  heads_[s] = {count, ties[0]};
}

Behaviour QTable::behaviour(double epsilon) const {
  return {.heads = heads_,
          .ties = ties_,
          .num_actions = static_cast<std::uint32_t>(num_actions_),
          .epsilon = epsilon};
}

}  // namespace hilo
