#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hilo/env/simulator.hpp"

namespace hilo {

// The known map T from high-fidelity to low-fidelity states, with its preimages.
class StateMap {
 public:
  // low_of[s] = T(s), each below num_low_states.
  StateMap(std::vector<State> low_of, std::size_t num_low_states);
  static StateMap identity(std::size_t num_states);

  std::size_t num_high_states() const { return low_of_.size(); }
  std::size_t num_low_states() const { return offsets_.size() - 1; }
  State low_of(State high) const { return low_of_[high]; }
  // All s with T(s) = low, rising.
  std::span<const State> high_of(State low) const {
    return std::span(high_of_).subspan(offsets_[low], offsets_[low + 1] - offsets_[low]);
  }

 private:
  std::vector<State> low_of_;
  std::vector<std::size_t> offsets_;
  std::vector<State> high_of_;
};

// An expensive simulator, its cheap sketch, and the map between their states. Cheap to copy: it
// shares what it holds.
class FidelityPair {
 public:
  // Both must have the same actions, and T must take terminal states to terminal states.
  FidelityPair(std::shared_ptr<const EpisodeSimulator> high, std::shared_ptr<const Simulator> low,
               StateMap map);

  // T is the identity.
  FidelityPair(const std::shared_ptr<const EpisodeSimulator>& high,
               std::shared_ptr<const Simulator> low);

  const EpisodeSimulator& high() const { return *high_; }
  const Simulator& low() const { return *low_; }
  const std::shared_ptr<const EpisodeSimulator>& shared_high() const { return high_; }
  const std::shared_ptr<const Simulator>& shared_low() const { return low_; }
  const StateMap& map() const { return *map_; }
  std::size_t num_actions() const { return low_->num_actions(); }

 private:
  std::shared_ptr<const EpisodeSimulator> high_;
  std::shared_ptr<const Simulator> low_;
  std::shared_ptr<const StateMap> map_;
};

}  // namespace hilo
