#pragma once

#include <span>
#include <vector>

namespace hilo {

// returns[t] = rewards[t] + gamma * returns[t + 1], from the end backwards.
inline void discounted_returns(std::span<const double> rewards, double gamma,
                               std::vector<double>& returns) {
  returns.resize(rewards.size());
  double g = 0;
  for (std::size_t t = rewards.size(); t-- > 0;) returns[t] = g = gamma * g + rewards[t];
}

}  // namespace hilo
