#pragma once

#include <memory>
#include <span>

#include "hilo/policy/network_policy.hpp"

namespace hilo {

// A network at many observations, and derivatives with respect to its weights by back-propagation.
// Its outputs are what a policy gradient differentiates: the actions in their box, or, for discrete
// actions, the numbers of which the largest is taken (the preferences of a softmax policy).
class NetworkBatch {
 public:
  // Throws Errc::usage if the weights or the observations do not fit the shape.
  NetworkBatch(const NetworkShape& shape, std::span<const double> weights,
               const Columns& observations);
  ~NetworkBatch();
  NetworkBatch(const NetworkBatch&) = delete;
  NetworkBatch& operator=(const NetworkBatch&) = delete;

  const Columns& outputs() const;

  // Adds sum_i sum_u pull(u, i) d output(u, i) / d weights, over all observations or over `count`
  // of them from `first` on.
  void add_gradient(const Columns& pull, std::span<double> gradient) const {
    add_gradient(pull, 0, pull.count(), gradient);
  }
  void add_gradient(const Columns& pull, std::size_t first, std::size_t count,
                    std::span<double> gradient) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hilo
