#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hilo/env/step_source.hpp"
#include "hilo/env/vector_simulator.hpp"

namespace hilo {

// Instances of one step source as a simulator in the domain of vectors: whole episodes, as many at
// the same time as there are instances. Everything that a source returns is checked.
class SourceVectors final : public VectorSimulator {
 public:
  // At least one instance, all with the same spaces. Messages begin with `role`.
  // `angles` are coordinates of observations.
  SourceVectors(std::vector<std::shared_ptr<StepSource>> instances, std::string role,
                std::vector<std::size_t> angles = {});
  ~SourceVectors() override;

  std::size_t num_workers() const override { return instances_.size(); }
  std::span<const std::size_t> angles() const override { return angles_; }

  void run_episode(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
                   VectorEpisode& episode) const override;
  void run_episodes(const Policy& policy, const StreamAddress& streams, const Horizon& horizon,
                    std::span<RolloutSummary> summaries) const override;

  // An episode that begins in a state of another simulator, for sources that can be started in any
  // state.
  void run_from(const Point& start, const Policy& policy, const StreamAddress& streams,
                const Horizon& horizon, VectorEpisode& episode) const;
  // The start state of the episode at this address, whose seed is the same as that of the episode.
  void reset(const StreamAddress& streams, Points& out) const;

 private:
  class Loan;  // one instance, for as long as it lives

  void run_path(const Point* start, const Policy& policy, const StreamAddress& streams,
                const Horizon& horizon, const Stream& stream, VectorEpisode& episode) const;

  std::vector<std::shared_ptr<StepSource>> instances_;
  std::string role_;
  std::vector<std::size_t> angles_;
  mutable std::mutex mutex_;
  mutable std::condition_variable returned_;
  mutable std::vector<StepSource*> free_;
};

}  // namespace hilo
