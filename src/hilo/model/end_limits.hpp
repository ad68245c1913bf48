#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hilo/core/columns.hpp"

namespace hilo {

// Where episodes end, learnt from the states that they went through: beyond limits of single
// coordinates, such as an angle at which a pole has fallen. Ends that are of no such kind are not
// explained, and it says how many.
class EndLimits {
 public:
  EndLimits() = default;
  // What is known of a problem with states of this dimension at the beginning: nothing ends.
  explicit EndLimits(std::size_t dimension);

  // A state in which an episode went on, or ended.
  void add(std::span<const double> state, bool ended);
  // Draws limits halfway between the states that went on and those that ended. To be called after
  // states were added.
  void fit();

  bool knows_any() const { return !ended_.empty(); }
  std::size_t unexplained() const { return unexplained_; }  // ends inside of all limits
  // Marks the columns whose states are beyond a limit.
  void mark(const Columns& states, std::span<std::uint8_t> done) const;

  // Everything that was added, for archives: least and most of what went on, and what ended.
  const std::vector<double>& least() const { return least_; }
  const std::vector<double>& most() const { return most_; }
  const std::vector<double>& ended() const { return ended_; }
  // Throws Errc::data unless they fit together.
  static EndLimits from(std::vector<double> least, std::vector<double> most,
                        std::vector<double> ended);

 private:
  std::vector<double> least_, most_;  // of states that went on, for each coordinate
  std::vector<double> ended_;         // states in which episodes ended, one after the other
  std::vector<double> low_, high_;    // the limits
  std::size_t unexplained_ = 0;
};

}  // namespace hilo
