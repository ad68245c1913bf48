#include "hilo/env/source_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {

void check_angles(const Space& space, std::span<const std::size_t> angles) {
  for (std::size_t i = 0; i < angles.size(); ++i)
    if (angles[i] >= space.dimension() || (i > 0 && angles[i] <= angles[i - 1]))
      throw Error(Errc::spec,
                  fmt::format("angles has {}, but must have numbers of coordinates, rising and "
                              "below {}",
                              angles[i], space.dimension()));
}

SourceSteps::SourceSteps(std::shared_ptr<StepSource> source, std::vector<std::size_t> angles,
                         std::string role)
    : source_(std::move(source)), angles_(std::move(angles)), role_(std::move(role)) {
  if (source_->observation_space().is_discrete())
    throw Error(Errc::spec, fmt::format("{}: its states must be vectors", role_));
  check_angles(source_->observation_space(), angles_);
}

SourceSteps::~SourceSteps() {
  if (source_.use_count() == 1) source_->begin_to_end();
}

std::vector<std::string> SourceSteps::tunable() const {
  const SourceEntry entry(*source_);
  return source_->tunable();
}

std::shared_ptr<const VectorSteps> SourceSteps::tuned(std::span<const std::string> names,
                                                      std::span<const double> values) const {
  auto out = std::make_shared<SourceSteps>(source_, angles_, role_);
  out->names_.assign(names.begin(), names.end());
  out->values_.assign(values.begin(), values.end());
  return out;
}

void SourceSteps::start(const StreamAddress& streams, Columns& states) const {
  const SourceEntry entry(*source_);
  source_->tune(names_, values_);
  Points seen(state_space());
  for (std::uint32_t i = 0; i < states.count(); ++i) {
    seen.clear();
    source_->reset(seed_of(streams.stream(0, i), streams.first_step), seen);
    if (seen.size() != 1)
      throw Error(Errc::simulator, fmt::format("{}: a reset must give one observation", role_));
    require_in_space(state_space(), seen[0], (role_ + ", the start state").c_str());
    states.set(i, seen[0].coordinates());
  }
}

void SourceSteps::step(Columns& states, const Columns& actions, std::span<const Stream> streams,
                       std::uint32_t step, StepResults& out) const {
  const SourceEntry entry(*source_);
  source_->tune(names_, values_);
  Points from(state_space()), action(control_space()), next(state_space());
  std::vector<double> point(states.rows()), chosen(actions.rows());
  for (std::size_t i = 0; i < states.count(); ++i) {
    states.get(i, point);
    actions.get(i, chosen);
    from.clear();
    action.clear();
    next.clear();
    from.push_back(std::span<const double>(point));
    if (control_space().is_discrete())
      action.push_back(static_cast<std::uint64_t>(chosen[0]));
    else
      action.push_back(std::span<const double>(chosen));
    const Stream& stream = streams[streams.size() == 1 ? 0 : i];
    if (source_->put(from[0], seed_of(stream, step))) {
      out.rewards[i] = 0;
      out.done[i] = 1;
      continue;
    }
    const SourceStep taken = source_->step(action[0], next);
    if (next.size() != 1)
      throw Error(Errc::simulator, fmt::format("{}: a step must give one observation", role_));
    require_in_space(state_space(), next[0], (role_ + ", the next state").c_str());
    if (!std::isfinite(taken.reward))
      throw Error(Errc::simulator,
                  fmt::format("{}: a reward is {}, but must be finite", role_, taken.reward));
    states.set(i, next[0].coordinates());
    out.rewards[i] = taken.reward;
    out.done[i] = taken.ended ? 1 : 0;
  }
}

}  // namespace hilo
