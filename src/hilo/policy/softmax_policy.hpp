#pragma once

#include <vector>

#include "hilo/policy/network_policy.hpp"

namespace hilo {

// A network over discrete actions that draws one of them, with probabilities proportional to the
// exponential of its outputs. It takes the largest of outputs + g, where g are independent numbers
// of the standard Gumbel distribution: that has exactly these probabilities, and two simulators
// that share the words of a step mostly share the action too.
class SoftmaxPolicy final : public Policy {
 public:
  // Throws Errc::usage unless actions are discrete and the weights are finite and as many as the
  // shape has.
  SoftmaxPolicy(NetworkShape shape, std::vector<double> weights);

  const NetworkShape& shape() const { return shape_; }
  std::span<const double> weights() const { return weights_; }

  void act(const Points& observations, std::span<const ActionWords> words,
           Points& actions) const override;
  void act_columns(const Columns& observations, std::span<const ActionWords> words,
                   Columns& actions) const override;

 private:
  NetworkShape shape_;
  std::vector<double> weights_;
  Columns columns_;  // the weights
};

// Standard Gumbel numbers, one for each action. The two words are the key of a stream.
void draw_gumbel(ActionWords words, std::span<double> out);

}  // namespace hilo
