#pragma once

#include "hilo/agent/temporal_difference.hpp"

namespace hilo {

// Q-learning on the high fidelity alone (Watkins 1989; Sutton and Barto, 2nd ed., section 6.5):
//   Q(s, a) <- Q(s, a) + step (r + gamma max_a' Q(s', a') - Q(s, a))
class QLearning final : public TdAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 1;
  static constexpr std::uint32_t kArchiveVersion = 1;

  QLearning(std::size_t num_states, std::size_t num_actions, const TdOptions& options)
      : TdAgent(num_states, num_actions, options) {}

  LearnReport learn(const Episode& episode) override;
  std::vector<std::byte> save() const override { return write("q-learning", kArchiveVersion); }
  void load(std::span<const std::byte> bytes) override {
    read(bytes, "q-learning", kArchiveVersion);
  }
};

}  // namespace hilo
