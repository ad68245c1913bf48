#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hilo/core/columns.hpp"
#include "hilo/env/vector_simulator.hpp"

namespace hilo {

// What a step of many paths gives besides their next states.
struct StepResults {
  std::vector<double, CacheLineAllocator<double>> rewards;
  std::vector<std::uint8_t> done;  // 1: the next state is terminal

  void resize(std::size_t padded) {
    rewards.assign(padded, 0.0);
    done.assign(padded, 0);
  }
};

// A simulator of vectors that can be started in any state and advances many paths at once. Its
// observation is its state. The corrected simulator of model/ is built on it.
class VectorSteps {
 public:
  VectorSteps() = default;
  VectorSteps(const VectorSteps&) = delete;
  VectorSteps& operator=(const VectorSteps&) = delete;
  virtual ~VectorSteps() = default;

  virtual const Space& state_space() const = 0;
  virtual const Space& control_space() const = 0;
  // Coordinates of a state that are angles, rising: they live on a circle, from -pi to pi.
  virtual std::span<const std::size_t> angles() const { return {}; }
  // Whether millions of its steps are out of reach, as those of Python code and of other programs.
  virtual bool is_slow() const { return false; }
  // Whether hundreds of paths at once cost it little more than a few, as for a function that is
  // called with arrays.
  virtual bool prefers_many_paths() const { return false; }

  // Numbers of it that can be changed, such as a mass, by name; none by default.
  virtual std::vector<std::string> tunable() const { return {}; }
  // The same simulator with other values of some of these. Throws Errc::spec for what it has not.
  virtual std::shared_ptr<const VectorSteps> tuned(std::span<const std::string> names,
                                                   std::span<const double> values) const;

  // The start states of roll-outs first_rollout, first_rollout + 1, ... at this address, one column
  // for each.
  virtual void start(const StreamAddress& streams, Columns& states) const = 0;

  // Replaces the states by their successors. A simulator that clamps its state to the box may leave
  // that to the caller, who does it in any case: a correction can only be added to what was not
  // clamped. Discrete actions are indices, as numbers. Random
  // numbers are those of `step`, counted from 1, of streams[0] for all paths, or of one stream for
  // each path. Everything has the same number of columns; what stands in the padding is of no
  // meaning, before and afterwards.
  virtual void step(Columns& states, const Columns& actions, std::span<const Stream> streams,
                    std::uint32_t step, StepResults& out) const = 0;
};

}  // namespace hilo
