#pragma once

#include <functional>

#include "hilo/env/policy.hpp"

namespace hilo {

// A policy written by hand: a function that appends an action for an observation.
class FunctionPolicy final : public Policy {
 public:
  using Function = std::function<void(const Point& observation, ActionWords words, Points& action)>;

  FunctionPolicy(const AnySimulator& simulator, Function function)
      : Policy(simulator.observation_space(), simulator.action_space()),
        function_(std::move(function)) {}

  void act(const Points& observations, std::span<const ActionWords> words,
           Points& actions) const override {
    actions.clear();
    for (std::size_t i = 0; i < observations.size(); ++i)
      function_(observations[i], words[i], actions);
  }

 private:
  Function function_;
};

}  // namespace hilo
