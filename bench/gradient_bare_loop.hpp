#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hilo/core/adam.hpp"
#include "hilo/policy/network_policy.hpp"
#include "hilo/rollout/path_batch.hpp"

namespace hilo::bench {

// One gradient step of a policy gradient: a network with two layers of 64 units, 10 paths of 200
// steps, a gradient, and Adam. The bare loop is the same arithmetic in Eigen, written by hand for
// this one network: inputs, weights and gradients lie ready as matrices, tanh is the library's own,
// and nothing is checked, scaled, allocated or kept.
class GradientWork {
 public:
  GradientWork();

  // One step each from the same weights; the weights after it.
  std::vector<double> run_sum();    // the gradient of all paths together
  std::vector<double> run_paths();  // a gradient for each path, as the control variate needs them
  std::vector<double> run_bare();
  std::size_t steps() const { return paths_.num_steps(); }
  // Throws Errc::data unless all give the same weights, up to rounding.
  void check();

 private:
  struct Bare;

  std::vector<double> climb(const std::vector<double>& gradient) const;

  NetworkShape shape_;
  PathBatch paths_;
  std::vector<double> weights_, advantages_;
  std::shared_ptr<Bare> bare_;
};

}  // namespace hilo::bench
