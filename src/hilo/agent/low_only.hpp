#pragma once

#include "hilo/agent/low_learning.hpp"

namespace hilo {

// Learns in the low fidelity and acts in the high one: Q(s, a) = Q_lo(T(s), a), whatever the high
// fidelity shows. It is the result for a user who trusts the low fidelity.
class LowOnly final : public LowTaughtAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 1;
  static constexpr std::uint32_t kArchiveVersion = 1;

  LowOnly(Fidelities pair, const TdOptions& options, const LowLearning& learning,
          std::uint64_t seed)
      : LowTaughtAgent(std::move(pair), options, learning, /*prior_count=*/0, seed) {}

  LearnReport learn(const Episode& episode) override;
  std::vector<std::byte> save() const override { return write("low-only", kArchiveVersion); }
  void load(std::span<const std::byte> bytes) override { read(bytes, "low-only", kArchiveVersion); }
};

}  // namespace hilo
