#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hilo/env/episode.hpp"

namespace hilo {

// What is measured of an episode.
enum class QuantityKind : std::uint8_t { discounted_return, total_reward, length, success };

struct Quantity {
  QuantityKind kind = QuantityKind::discounted_return;
  // For success: an episode succeeds if its rewards sum up to at least this. Nothing: if it ends in
  // a terminal state instead of being cut.
  std::optional<double> success_above = {};

  double of(const RolloutSummary& episode) const {
    switch (kind) {
      case QuantityKind::discounted_return:
        return episode.discounted_return;
      case QuantityKind::total_reward:
        return episode.reward_sum;
      case QuantityKind::length:
        return episode.steps;
      case QuantityKind::success:
        break;
    }
    return (success_above ? episode.reward_sum >= *success_above : !episode.truncated) ? 1 : 0;
  }
};

// The names in specs: return, total-reward, length, success.
std::vector<std::string> quantity_names();
// Throws Errc::spec on an unknown name.
QuantityKind quantity_kind(const std::string& name);
// "mean return", "probability of success", as the beginning of a sentence would have it.
std::string describe(const Quantity& quantity);

}  // namespace hilo
