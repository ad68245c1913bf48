#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "hilo/env/any_simulator.hpp"
#include "hilo/env/streams.hpp"

namespace hilo {

// What a step led to, beside the next observation.
struct SourceStep {
  double reward = 0;
  bool ended = false;  // in a terminal state
  bool cut = false;    // by a limit of time of its own
};

// A simulator that has a state of its own and is asked for one step at a time: an object in Python,
// a program. It is asked by one thread at a time, between enter and leave. Seeds are below 2^31,
// and what it does is a function of them and of the actions, so that results depend neither on
// threads nor on order as long as it keeps nothing from one path to the next.
//
// Observations are appended to `out`. Whoever asks checks them, and rewards; a source only has to
// throw Errc::simulator where it cannot answer.
class StepSource : public AnySimulator {
 public:
  virtual void reset(std::uint32_t seed, Points& out) = 0;
  virtual SourceStep step(const Point& action, Points& out) = 0;

  // These only of sources that can be started anywhere.
  virtual void put(const Point& observation, std::uint32_t seed);
  virtual double reward(const Point& observation, const Point& action, const Point& next);

  // Around everything else; leave is called even where something was thrown.
  virtual void enter() {}
  virtual void leave() noexcept {}

 protected:
  using AnySimulator::AnySimulator;

 private:
  friend class SourceEntry;
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_;
};

// The right to ask a source. A source that, to answer, asks itself would wait for itself for ever:
// that throws.
class SourceEntry {
 public:
  explicit SourceEntry(StepSource& source);
  SourceEntry(const SourceEntry&) = delete;
  SourceEntry& operator=(const SourceEntry&) = delete;
  ~SourceEntry();

 private:
  StepSource& source_;
  std::unique_lock<std::mutex> lock_;
};

// The seed that a path of a source begins with. A path that starts late in its stream has another
// one, so that its steps do not repeat the first.
inline std::uint32_t seed_of(const Stream& stream, std::uint32_t first_step) {
  return stream.block(first_step << 8)[0] >> 1;
}

}  // namespace hilo
