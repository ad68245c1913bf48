#pragma once

#include "hilo/env/bulk.hpp"
#include "hilo/env/lockstep.hpp"

namespace hilo {

// The simulator of a TabularMdp of up to 2^16 states whose rewards do not depend on the successor.
// Roll-outs that come in numbers advance together (lockstep.hpp); single paths, and all of them
// where the path `scalar` is chosen, go through BulkSimulator, with the same bits.
class TabularSimulator final : public BulkSimulator<TabularSampler<std::uint16_t>> {
 public:
  explicit TabularSimulator(std::shared_ptr<const TabularMdp> mdp)
      : BulkSimulator(TabularSampler<std::uint16_t>(std::move(mdp))) {}

  void run_episodes(const RolloutBatch& batch, std::span<RolloutSummary> summaries) const override;
  void roll_out(const RolloutBatch& batch, std::span<const StateAction> starts,
                std::uint32_t rollouts, std::span<RolloutSummary> summaries) const override;
  void record_paths(const RolloutBatch& batch, std::span<const StateAction> starts,
                    PathVisitor& visitor) const override;
};

}  // namespace hilo
