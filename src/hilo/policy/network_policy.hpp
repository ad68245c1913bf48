#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hilo/core/simd.hpp"
#include "hilo/env/policy.hpp"

namespace hilo {

// What a network computes, apart from its weights. Coordinates of an observation that are angles
// enter as their cosine and sine, all others as (x - centre) / scale. Then come layers of tanh
// units, and at last one unit for each coordinate of the action, squashed into its box by tanh, or
// one for each discrete action, of which the largest is taken. Without layers the policy is linear.
struct NetworkShape {
  static constexpr std::size_t kMostUnits = 256;  // of a layer, inputs included

  Space observations, actions;
  std::vector<std::size_t> angles = {};  // coordinates of observations, rising
  std::vector<double> centre, scale;     // one for each coordinate; those of angles are not used
  std::vector<std::size_t> layers = {};  // units of each, at most two

  std::size_t num_inputs() const { return observations.dimension() + angles.size(); }
  std::size_t num_outputs() const {
    return actions.is_discrete() ? actions.size() : actions.dimension();
  }
  // Layer by layer, for each unit the weights of its inputs and then its bias.
  std::size_t num_weights() const;
  bool is_angle(std::size_t coordinate) const;

  // Throws Errc::usage, with what is wrong. Observations must be a box, and the box of actions must
  // be bounded.
  void check() const;
};

// The actions of many networks of one shape, or of one network, for many observations: weights have
// a row for each weight, and either one column, for all, or one for each observation.
void network_actions(const NetworkShape& shape, const Columns& weights, const Columns& observations,
                     Columns& actions, SimdPath path = simd_path());

// For discrete actions: the numbers of which the largest is taken, one row for each action.
void network_preferences(const NetworkShape& shape, const Columns& weights,
                         const Columns& observations, Columns& preferences,
                         SimdPath path = simd_path());

// Noise on an action: normal with this standard deviation, in units of half the width of its box,
// or a uniform action with this probability. Actions of columns `first` to `last` - 1 get the same
// noise, and stay within their box.
void add_action_noise(const Space& space, double noise, ActionWords words, std::size_t first,
                      std::size_t last, Columns& actions);

// The noise of an action in a box, before it is added and clamped.
void draw_action_noise(const Space& box, double noise, ActionWords words, std::span<double> added);

// Overwrites `actions` with what `act_columns` of the policy makes of the observations.
void act_in_columns(const Policy& policy, const Points& observations,
                    std::span<const ActionWords> words, Points& actions);

// A network that acts, with or without noise.
class NetworkPolicy final : public Policy {
 public:
  NetworkPolicy(NetworkShape shape, std::vector<double> weights, double noise = 0);

  const NetworkShape& shape() const { return shape_; }
  std::span<const double> weights() const { return weights_; }
  double noise() const { return noise_; }

  bool is_random() const override { return noise_ > 0; }
  void act(const Points& observations, std::span<const ActionWords> words,
           Points& actions) const override;
  void act_columns(const Columns& observations, std::span<const ActionWords> words,
                   Columns& actions) const override;

 private:
  NetworkShape shape_;
  std::vector<double> weights_;
  Columns columns_;  // the weights
  double noise_;
};

}  // namespace hilo
