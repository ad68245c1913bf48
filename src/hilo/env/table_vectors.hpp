#pragma once

#include <memory>

#include "hilo/env/simulator.hpp"
#include "hilo/env/vector_simulator.hpp"

namespace hilo {

// A simulator of tables in the domain of vectors, for callers that treat all simulators alike. A
// policy that is a table runs at the speed of tables. Any other policy needs a simulator that takes
// single steps; otherwise it is refused with Errc::usage.
class TableVectors final : public VectorSimulator {
 public:
  explicit TableVectors(std::shared_ptr<const EpisodeSimulator> table);

  std::size_t num_workers() const override { return table_->num_workers(); }
  const EpisodeSimulator& table() const { return *table_; }

  void run_episode(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
                   VectorEpisode& episode) const override;
  void run_episodes(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<RolloutSummary> summaries) const override;

 private:
  void run_steps(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
                 VectorEpisode& episode) const;

  std::shared_ptr<const EpisodeSimulator> table_;
  const Simulator* steps_;  // the same, if it takes single steps
};

}  // namespace hilo
