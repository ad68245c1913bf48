#pragma once

#include <functional>
#include <memory>

#include "hilo/agent/policy_search.hpp"
#include "hilo/model/end_limits.hpp"
#include "hilo/model/residual_model.hpp"

// For the sources of this folder only: a cheap simulator that is too slow for millions of steps,
// learnt from thousands of them.
namespace hilo {

// Its steps, and the model that they make: a residual on a state that stays as it is, which is
// the regression that corrects cheap simulators. Episodes end beyond learnt limits.
class LearntSimulator {
 public:
  explicit LearntSimulator(std::shared_ptr<const VectorSteps> slow);

  // Runs paths from start states until `steps` more are known. A path follows one of the networks,
  // in turn, with this noise on its actions. `round` numbers the calls.
  void explore(const NetworkShape& shape, const std::vector<std::vector<double>>& networks,
               double noise, std::uint64_t steps, std::uint32_t max_length, std::uint64_t seed,
               std::uint32_t round);
  void fit(const ResidualOptions& options, std::uint64_t seed);

  // What is known so far as a simulator.
  std::shared_ptr<const VectorSteps> simulator() const;
  const ResidualData& data() const { return data_; }
  const EndLimits& ends() const { return ends_; }
  const ResidualModel* model() const { return model_.get(); }
  std::uint64_t steps() const { return data_.size(); }

  // Takes a saved state.
  void restore(ResidualData data, EndLimits ends, const ProcessScales& scales,
               const ResidualOptions& options, std::uint64_t seed);

 private:
  std::shared_ptr<const VectorSteps> slow_;
  ResidualData data_;
  EndLimits ends_;
  std::uint32_t num_paths_ = 0;
  std::shared_ptr<const ResidualModel> model_;
};

}  // namespace hilo
