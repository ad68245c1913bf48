#include "hilo/env/fidelity_pair.hpp"

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

FidelityPair::FidelityPair(std::shared_ptr<const EpisodeSimulator> high,
                           std::shared_ptr<const Simulator> low, StateMap map)
    : high_(std::move(high)),
      low_(std::move(low)),
      map_(std::make_shared<const StateMap>(std::move(map))) {
  if (!high_ || !low_) throw Error(Errc::usage, "a fidelity pair needs two simulators");
  if (high_->num_actions() != low_->num_actions())
    throw Error(Errc::data, fmt::format("the high fidelity has {} actions and the low fidelity {}, "
                                        "but they must have the same",
                                        high_->num_actions(), low_->num_actions()));
  if (map_->num_high_states() != high_->num_states() ||
      map_->num_low_states() != low_->num_states())
    throw Error(Errc::data, fmt::format("T maps {} states to {}, but the fidelities have {} and {}",
                                        map_->num_high_states(), map_->num_low_states(),
                                        high_->num_states(), low_->num_states()));
  // A system that only gives episodes does not say which of its states are terminal.
  const auto* generative = dynamic_cast<const Simulator*>(high_.get());
  for (State s = 0; generative != nullptr && s < map_->num_high_states(); ++s)
    if (generative->is_terminal(s) && !low_->is_terminal(map_->low_of(s)))
      throw Error(Errc::data,
                  fmt::format("T maps the terminal state {} to {}, which is not terminal", s,
                              map_->low_of(s)));
}

FidelityPair::FidelityPair(const std::shared_ptr<const EpisodeSimulator>& high,
                           std::shared_ptr<const Simulator> low)
    : FidelityPair(high, std::move(low), StateMap::identity(high ? high->num_states() : 1)) {}

}  // namespace hilo
