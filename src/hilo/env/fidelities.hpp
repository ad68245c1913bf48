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

// A cheap simulator, and the map T from the states of the expensive one to its own.
struct LowFidelity {
  std::shared_ptr<const Simulator> simulator;
  std::shared_ptr<const StateMap> map;
  double cost = 0;  // of a step, relative to a step of the expensive simulator; 0: not known
};

// An expensive simulator and any number of cheap ones, the best first. Copies are cheap, because
// they share the simulators and maps.
class Fidelities {
 public:
  // All must have the same actions, and every T must take terminal states to terminal states.
  Fidelities(std::shared_ptr<const EpisodeSimulator> high, std::vector<LowFidelity> lows);

  // One cheap simulator; without a map T is the identity.
  Fidelities(std::shared_ptr<const EpisodeSimulator> high, std::shared_ptr<const Simulator> low,
             StateMap map);
  Fidelities(const std::shared_ptr<const EpisodeSimulator>& high,
             std::shared_ptr<const Simulator> low);

  const EpisodeSimulator& high() const { return *high_; }
  const std::shared_ptr<const EpisodeSimulator>& shared_high() const { return high_; }
  std::size_t num_actions() const { return high_->num_actions(); }

  std::span<const LowFidelity> lows() const { return lows_; }
  // The cheap simulator i and its map; 0 is the best. These throw Errc::usage if there is none.
  const Simulator& low(std::size_t i = 0) const { return *at(i).simulator; }
  const StateMap& map(std::size_t i = 0) const { return *at(i).map; }
  const std::shared_ptr<const Simulator>& shared_low(std::size_t i = 0) const {
    return at(i).simulator;
  }

 private:
  const LowFidelity& at(std::size_t i) const {
    if (i >= lows_.size()) throw_no_low(i);
    return lows_[i];
  }
  [[noreturn]] void throw_no_low(std::size_t i) const;

  std::shared_ptr<const EpisodeSimulator> high_;
  std::vector<LowFidelity> lows_;
};

}  // namespace hilo
