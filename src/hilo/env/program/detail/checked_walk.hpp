#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "hilo/core/random.hpp"
#include "hilo/env/step_source.hpp"
#include "hilo/env/streams.hpp"

// For conformance.cpp only: paths of random actions, as they are compared.
namespace hilo {

inline constexpr std::uint32_t kFewSteps = 200;  // of paths that are compared

// Actions that are drawn for the checks, the same for every instance.
class Actions {
 public:
  Actions(const Space& space, std::uint32_t seed) : space_(space), seed_(seed) {}

  // The action of step t, valid until the next call.
  Point at(std::uint32_t t) {
    Rng rng = Rng::of_step(
        StreamAddress{.seed = seed_, .purpose = Purpose::test, .episode = seed_}.stream(), t + 1);
    if (space_.is_discrete())
      return Point(std::min<std::uint64_t>(
          space_.size() - 1,
          static_cast<std::uint64_t>(rng.uniform() * static_cast<double>(space_.size()))));
    coordinates_.clear();
    for (std::size_t i = 0; i < space_.dimension(); ++i) {
      const double low = std::isfinite(space_.low()[i]) ? space_.low()[i] : -1;
      const double high = std::isfinite(space_.high()[i]) ? space_.high()[i] : 1;
      coordinates_.push_back(low + (high - low) * rng.uniform());
    }
    return Point(std::span<const double>(coordinates_));
  }

 private:
  const Space& space_;
  std::uint32_t seed_;
  std::vector<double> coordinates_;
};

std::string text_of(const Point& point);

// A path as text, so that two of them are compared to the last digit.
struct Path {
  std::vector<std::string> lines;         // of the start, and of every step
  std::vector<std::string> observations;  // one more than steps
  std::vector<double> rewards;
  bool ended = false, cut = false;
};

// One instance of the simulator and the path that it is on.
class Walk {
 public:
  Walk(StepSource& source, std::uint32_t seed)
      : source_(source), actions_(source.action_space(), seed), seen_(source.observation_space()) {}

  void reset(std::uint32_t seed) {
    const SourceEntry entry(source_);
    source_.reset(seed, seen_);
    note("start");
  }

  // False at the end of the path.
  bool step() {
    const SourceEntry entry(source_);
    const Point action = actions_.at(steps_++);
    const std::string taken = text_of(action);
    const SourceStep step = source_.step(action, seen_);
    path_.rewards.push_back(step.reward);
    path_.ended = step.ended;
    path_.cut = step.cut;
    note(fmt::format("action{} reward {:.17g} end {}", taken, step.reward,
                     step.ended ? 1 : (step.cut ? 2 : 0)));
    return !step.ended && !step.cut;
  }

  const Path& path() const { return path_; }
  const Points& seen() const { return seen_; }

 private:
  void note(const std::string& what) {
    path_.observations.push_back(text_of(seen_[seen_.size() - 1]));
    path_.lines.push_back(what + " observation" + path_.observations.back());
  }

  StepSource& source_;
  Actions actions_;
  Points seen_;
  Path path_;
  std::uint32_t steps_ = 0;
};

Path walk(StepSource& source, std::uint32_t seed, std::uint32_t most_steps);

// The first line in which two paths differ; empty if they are the same.
std::string difference(const Path& a, const Path& b);

}  // namespace hilo
