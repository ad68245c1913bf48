#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "hilo/env/source_simulator.hpp"

namespace hilo {

// Several instances of one step source as a high fidelity: as many episodes as there are instances
// can run at the same time, each on a thread of the caller.
class SourcePool final : public EpisodeSimulator {
 public:
  // At least one, all with the same spaces.
  explicit SourcePool(std::vector<SourcePaths> instances);
  ~SourcePool() override;

  std::size_t num_workers() const override { return instances_.size(); }
  const StepSource& first() const { return *instances_.front().source(); }

  void run_episode(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                   Episode& episode) const override;
  void run_episodes(const Behaviour& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<RolloutSummary> summaries) const override;

 private:
  // One instance, for as long as it lives.
  class Loan;

  std::vector<SourcePaths> instances_;
  mutable std::mutex mutex_;
  mutable std::condition_variable returned_;
  mutable std::vector<const SourcePaths*> free_;
};

}  // namespace hilo
