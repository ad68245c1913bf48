#pragma once

#include "hilo/agent/temporal_difference.hpp"

namespace hilo {

// Expected Sarsa on the high fidelity alone (Sutton and Barto, 2nd ed., section 6.6), on-policy:
//   Q(s, a) <- Q(s, a) + step (r + gamma sum_a' pi(a' | s') Q(s', a') - Q(s, a))
// with pi epsilon-greedy in Q.
class ExpectedSarsa final : public TdAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 1;
  static constexpr std::uint32_t kArchiveVersion = 1;

  ExpectedSarsa(std::size_t num_states, std::size_t num_actions, const TdOptions& options)
      : TdAgent(num_states, num_actions, options) {}

  LearnReport learn(const Episode& episode) override;
  std::vector<std::byte> save() const override { return write("expected-sarsa", kArchiveVersion); }
  void load(std::span<const std::byte> bytes) override {
    read(bytes, "expected-sarsa", kArchiveVersion);
  }

 private:
  double expected_value(State s) const;
};

}  // namespace hilo
