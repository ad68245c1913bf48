#include "hilo/env/fidelities.hpp"

#include <fmt/format.h>

#include <numeric>

#include "hilo/core/error.hpp"

namespace hilo {

StateMap::StateMap(std::vector<State> low_of, std::size_t num_low_states)
    : low_of_(std::move(low_of)), high_of_(low_of_.size()) {
  require_within("number of low-fidelity states", num_low_states, 1, kMaxTableSize, Errc::data);
  offsets_.resize(num_low_states + 1);
  // Counting sort of the high-fidelity states by their image.
  for (State s = 0; s < low_of_.size(); ++s) {
    if (low_of_[s] >= num_low_states)
      throw Error(Errc::data,
                  fmt::format("T maps state {} to {}, but there are only {} low-fidelity "
                              "states",
                              s, low_of_[s], num_low_states));
    ++offsets_[low_of_[s] + 1];
  }
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  std::vector<std::size_t> end = offsets_;
  for (State s = 0; s < low_of_.size(); ++s) high_of_[end[low_of_[s]]++] = s;
}

StateMap StateMap::identity(std::size_t num_states) {
  require_within("number of states", num_states, 1, kMaxTableSize, Errc::data);
  std::vector<State> low_of(num_states);
  std::iota(low_of.begin(), low_of.end(), State{0});
  return {std::move(low_of), num_states};
}

namespace {

void check(const EpisodeSimulator& high, const LowFidelity& low) {
  const StateMap& map = *low.map;
  if (high.num_actions() != low.simulator->num_actions())
    throw Error(Errc::data, fmt::format("the high fidelity has {} actions and the low fidelity {}, "
                                        "but they must have the same",
                                        high.num_actions(), low.simulator->num_actions()));
  if (map.num_high_states() != high.num_states() ||
      map.num_low_states() != low.simulator->num_states())
    throw Error(Errc::data, fmt::format("T maps {} states to {}, but the fidelities have {} and {}",
                                        map.num_high_states(), map.num_low_states(),
                                        high.num_states(), low.simulator->num_states()));
  // A system that only gives episodes does not say which of its states are terminal.
  const auto* generative = dynamic_cast<const Simulator*>(&high);
  for (State s = 0; generative != nullptr && s < map.num_high_states(); ++s)
    if (generative->is_terminal(s) && !low.simulator->is_terminal(map.low_of(s)))
      throw Error(Errc::data,
                  fmt::format("T maps the terminal state {} to {}, which is not terminal", s,
                              map.low_of(s)));
}

}  // namespace

Fidelities::Fidelities(std::shared_ptr<const EpisodeSimulator> high, std::vector<LowFidelity> lows)
    : high_(std::move(high)), lows_(std::move(lows)) {
  if (!high_) throw Error(Errc::usage, "there must be a high fidelity");
  for (const LowFidelity& low : lows_) {
    if (!low.simulator || !low.map)
      throw Error(Errc::usage, "a low fidelity must have a simulator and a map");
    require_within("cost of a low-fidelity step", low.cost, 0, 1e300, Errc::usage);
    check(*high_, low);
  }
}

Fidelities::Fidelities(std::shared_ptr<const EpisodeSimulator> high,
                       std::shared_ptr<const Simulator> low, StateMap map)
    : Fidelities(std::move(high),
                 {{std::move(low), std::make_shared<const StateMap>(std::move(map))}}) {}

Fidelities::Fidelities(const std::shared_ptr<const EpisodeSimulator>& high,
                       std::shared_ptr<const Simulator> low)
    : Fidelities(high, std::move(low), StateMap::identity(high ? high->num_states() : 1)) {}

void Fidelities::throw_no_low(std::size_t i) const {
  throw Error(Errc::usage,
              i == 0 ? "there is no low fidelity"
                     : fmt::format("there is no low fidelity {}: there are {}", i, lows_.size()));
}

}  // namespace hilo
