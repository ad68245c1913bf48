#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hilo {

// How often an epsilon-greedy agent draws a uniform action instead of a greedy one.
enum class Exploration : std::uint8_t {
  standard,  // "standard": with probability epsilon, so that every action that is not greedy has
             // the probability epsilon / A, as Algorithm 1 and the textbooks say
  as_published,  // "as-published": the published runs took the greedy action with probability
                 // 1 - epsilon + epsilon / A and otherwise drew among all A, the greedy one too
};

// The names used in specs, as above.
Exploration exploration_from_name(std::string_view name);
std::string_view name_of(Exploration exploration);

// The probability of a uniform draw: epsilon, or epsilon (1 - 1 / A).
double chance_of_uniform_action(Exploration exploration, double epsilon, std::size_t num_actions);

}  // namespace hilo
