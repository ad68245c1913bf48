#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hilo/env/step_source.hpp"
#include "hilo/env/vector_steps.hpp"

namespace hilo {

// A step source that can be started in any state, one path after the other. Everything that it
// returns is checked. It is slow, so that agents that take millions of steps learn it instead
// (model/).
class SourceSteps final : public VectorSteps {
 public:
  // `angles` are coordinates of observations. Messages begin with `role`.
  SourceSteps(std::shared_ptr<StepSource> source, std::vector<std::size_t> angles,
              std::string role);
  ~SourceSteps() override;

  const Space& state_space() const override { return source_->observation_space(); }
  const Space& control_space() const override { return source_->action_space(); }
  std::span<const std::size_t> angles() const override { return angles_; }
  bool is_slow() const override { return true; }
  std::vector<std::string> tunable() const override;
  // Shares the source, so that only one of the two is to be called at a time.
  std::shared_ptr<const VectorSteps> tuned(std::span<const std::string> names,
                                           std::span<const double> values) const override;

  void start(const StreamAddress& streams, Columns& states) const override;
  void step(Columns& states, const Columns& actions, std::span<const Stream> streams,
            std::uint32_t step, StepResults& out) const override;

 private:
  std::shared_ptr<StepSource> source_;
  std::vector<std::size_t> angles_;
  std::string role_;
  std::vector<std::string> names_;  // that are tuned
  std::vector<double> values_;
};

// Throws Errc::spec unless each is below the dimension of the space, and they rise.
void check_angles(const Space& space, std::span<const std::size_t> angles);

}  // namespace hilo
