#pragma once

#include <memory>

#include "hilo/env/vector_steps.hpp"
#include "hilo/model/end_limits.hpp"
#include "hilo/model/residual_model.hpp"

namespace hilo {

// What is done to a step of a cheap simulator: one function that its residual may be is added to
// the next state and to the reward, s' = f_cheap(s, a) + residual. Then angles are put on their
// circle and other coordinates in the declared box, in which a simulator clamps after everything
// else. An episode ends where the cheap simulator ends it, which it notices when it is started in
// the corrected state, one step later, and beyond the limits that were learnt, if there are any (or
// only there). Without a residual (null) the cheap simulator is left as it is.
class Correction {
 public:
  Correction() = default;
  Correction(std::shared_ptr<const ResidualModel> residual, ResidualSample sample,
             EndLimits ends = {}, bool takes_ends_of_cheap = true)
      : residual_(std::move(residual)),
        sample_(std::move(sample)),
        ends_(std::move(ends)),
        takes_ends_of_cheap_(takes_ends_of_cheap) {}

  // Whether it needs the states before the step.
  bool has_residual() const { return residual_ != nullptr && !residual_->is_empty(); }
  // `next` and `out` are what `cheap` has made of `before` and the actions.
  void apply(const VectorSteps& cheap, const Columns& before, const Columns& actions, Columns& next,
             StepResults& out) const;

 private:
  std::shared_ptr<const ResidualModel> residual_;
  ResidualSample sample_;
  EndLimits ends_;
  bool takes_ends_of_cheap_ = true;
};

// The two together, as a simulator.
class CorrectedSteps final : public VectorSteps {
 public:
  CorrectedSteps(std::shared_ptr<const VectorSteps> cheap, Correction correction)
      : cheap_(std::move(cheap)), correction_(std::move(correction)) {}

  const Space& state_space() const override { return cheap_->state_space(); }
  const Space& control_space() const override { return cheap_->control_space(); }
  std::span<const std::size_t> angles() const override { return cheap_->angles(); }
  void start(const StreamAddress& streams, Columns& states) const override {
    cheap_->start(streams, states);
  }
  void step(Columns& states, const Columns& actions, std::span<const Stream> streams,
            std::uint32_t step, StepResults& out) const override;

 private:
  std::shared_ptr<const VectorSteps> cheap_;
  Correction correction_;
};

// No simulator at all: the state stays as it is, and the reward is 0. A residual on it learns the
// expensive simulator alone.
class NoSimulator final : public VectorSteps {
 public:
  // Start states are those of `starts`, if it is given.
  NoSimulator(Space states, Space actions, std::vector<std::size_t> angles,
              std::shared_ptr<const VectorSteps> starts = nullptr)
      : states_(std::move(states)),
        actions_(std::move(actions)),
        angles_(std::move(angles)),
        starts_(std::move(starts)) {}

  const Space& state_space() const override { return states_; }
  const Space& control_space() const override { return actions_; }
  std::span<const std::size_t> angles() const override { return angles_; }
  // Throws Errc::usage if it knows no start.
  void start(const StreamAddress& streams, Columns& states) const override;
  void step(Columns& states, const Columns& actions, std::span<const Stream> streams,
            std::uint32_t step, StepResults& out) const override;

 private:
  Space states_, actions_;
  std::vector<std::size_t> angles_;
  std::shared_ptr<const VectorSteps> starts_;
};

}  // namespace hilo
