#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "hilo/env/detail/lockstep.hpp"
#include "hilo/env/one_path_simulator.hpp"

namespace hilo {

// The simulator of a TabularMdp of up to 2^16 states whose rewards do not depend on the successor.
// Batches of roll-outs advance together (lockstep.hpp). A few paths alone, and all paths if the
// SIMD path is `scalar`, go through OnePathSimulator, with the same bits.
class TabularSimulator final : public OnePathSimulator<TabularSampler<std::uint16_t>> {
 public:
  explicit TabularSimulator(std::shared_ptr<const TabularMdp> mdp, SimdPath path = simd_path());
  ~TabularSimulator() override;

  void run_episodes(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<RolloutSummary> summaries) const override;
  void roll_out(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                std::span<const StateAction> starts, std::uint32_t rollouts,
                std::span<RolloutSummary> summaries) const override;
  void record_paths(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<const StateAction> starts, PathVisitor& visitor) const override;

 private:
  class WorkSpace;
  class GroupRecorder;

  SimdPath path_;
  mutable std::mutex guard_;  // protects the spare work spaces, as any thread may call
  mutable std::vector<std::unique_ptr<Lockstep>> spare_;
  mutable std::size_t work_spaces_ = 0;  // made so far
};

}  // namespace hilo
