#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "hilo/env/any_simulator.hpp"
#include "hilo/env/streams.hpp"

namespace hilo {

// The result of a step, without the next observation.
struct SourceStep {
  double reward = 0;
  bool ended = false;               // in a terminal state
  bool cut = false;                 // by the source's own time limit
  std::optional<double> cost = {};  // of the step, if the source says it
};

// A simulator that keeps its own state and is called for one step at a time, such as an object in
// Python or another program. One thread at a time calls it, between enter and leave. Seeds are
// below 2^31. Its behaviour is a function of the seeds and the actions, so results depend neither
// on threads nor on the order of paths as long as it keeps nothing from one path to the next.
//
// Observations are appended to `out`. The caller checks observations and rewards; a source only has
// to throw Errc::simulator where it cannot answer.
class StepSource : public AnySimulator {
 public:
  virtual void reset(std::uint32_t seed, Points& out) = 0;
  virtual SourceStep step(const Point& action, Points& out) = 0;

  // Only for sources that can be started in any state; by default they throw. put returns whether
  // the state is terminal, if the source knows.
  virtual bool put(const Point& observation, std::uint32_t seed);
  virtual double reward(const Point& observation, const Point& action, const Point& next);
  // Whether reward() works. Otherwise rewards of steps taken elsewhere are found by trying.
  virtual bool tells_rewards() { return true; }

  // Numbers of it that can be changed, by name. tune sets some of them, and the others to what they
  // were at first. Both are called between enter and leave.
  virtual std::vector<std::string> tunable() { return {}; }
  virtual void tune(std::span<const std::string> names, std::span<const double> values);

  // Called before it is destroyed, if others are, too: what takes time to end can end together.
  virtual void begin_to_end() noexcept {}

  // Called around all other calls; leave is called even if one of them throws.
  virtual void enter() {}
  virtual void leave() noexcept {}

 protected:
  using AnySimulator::AnySimulator;

 private:
  friend class SourceEntry;
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_;
};

// Exclusive access to a source. A source that calls itself in order to answer would wait for itself
// for ever, so that throws.
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

// The seed for a path of a source. A path that starts later in its stream has a different seed, so
// that its steps do not repeat the first steps of the stream.
inline std::uint32_t seed_of(const Stream& stream, std::uint32_t first_step) {
  return stream.block(first_step << 8)[0] >> 1;
}

}  // namespace hilo
