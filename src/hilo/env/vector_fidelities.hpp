#pragma once

#include <memory>

#include "hilo/env/vector_simulator.hpp"
#include "hilo/env/vector_steps.hpp"

namespace hilo {

// An expensive simulator of vectors and a cheap one, which can be started anywhere. Copies share
// them.
class VectorFidelities {
 public:
  // Without a cheap one `low` is null. Throws Errc::usage unless both have the same spaces.
  explicit VectorFidelities(std::shared_ptr<const VectorSimulator> high,
                            std::shared_ptr<const VectorSteps> low = nullptr);

  const VectorSimulator& high() const { return *high_; }
  const std::shared_ptr<const VectorSimulator>& shared_high() const { return high_; }
  bool has_low() const { return low_ != nullptr; }
  const std::shared_ptr<const VectorSteps>& shared_low() const { return low_; }

  std::vector<std::size_t> angles() const;
  // Start states of either simulator, without a step of the expensive one; false if neither has
  // them.
  bool draw_starts(const StreamAddress& streams, Columns& states) const;

 private:
  std::shared_ptr<const VectorSimulator> high_;
  std::shared_ptr<const VectorSteps> low_;
};

}  // namespace hilo
