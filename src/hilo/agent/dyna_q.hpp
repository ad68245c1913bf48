#pragma once

#include "hilo/agent/temporal_difference.hpp"
#include "hilo/env/fidelities.hpp"

namespace hilo {

// Dyna-Q (Sutton 1990; Sutton and Barto, 2nd ed., section 8.2) with the low fidelity as its model.
// After every step of the high fidelity, planning_steps times:
//   (s, a) <- at random among the pairs seen in the high fidelity
//   r, s'  <- one step of the low fidelity from (T(s), a), its next state mapped back at random to
//             a state with that image under T
//   Q(s, a) <- Q(s, a) + step (r + gamma max_a' Q(s', a') - Q(s, a))
// It never checks whether the low fidelity is right.
class DynaQ final : public TdAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 1;
  static constexpr std::uint32_t kArchiveVersion = 1;

  DynaQ(Fidelities pair, const TdOptions& options, std::uint32_t planning_steps,
        std::uint64_t seed);

  LearnReport learn(const Episode& episode) override;
  std::vector<std::byte> save() const override;
  void load(std::span<const std::byte> bytes) override;

 private:
  void plan(std::uint32_t t, LearnReport& report);

  Fidelities pair_;
  std::uint32_t planning_steps_;
  std::uint64_t seed_;
  std::vector<std::uint8_t> seen_;  // [s * num_actions + a]
  std::vector<StateAction> pairs_;  // the pairs seen, in order of first appearance
};

}  // namespace hilo
