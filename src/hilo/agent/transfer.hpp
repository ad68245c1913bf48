#pragma once

#include "hilo/agent/low_learning.hpp"

namespace hilo {

// Q-learning in the high fidelity that starts from values learnt in the low one:
//   Q(s, a) = Q_lo(T(s), a),  as if (s, a) had been updated prior_count times.
// Its known failure: the agent acts on a value that the low fidelity overrates until enough
// high-fidelity episodes have corrected it, and tries an action that it underrates only by chance.
class Transfer final : public LowTaughtAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 1;
  static constexpr std::uint32_t kArchiveVersion = 1;

  Transfer(Fidelities pair, const TdOptions& options, const LowLearning& learning,
           double prior_count, std::uint64_t seed)
      : LowTaughtAgent(std::move(pair), options, learning, prior_count, seed) {}

  LearnReport learn(const Episode& episode) override;
  std::vector<std::byte> save() const override { return write("transfer", kArchiveVersion); }
  void load(std::span<const std::byte> bytes) override { read(bytes, "transfer", kArchiveVersion); }
};

}  // namespace hilo
