#pragma once

#include <memory>
#include <vector>

#include "hilo/core/archive.hpp"
#include "hilo/env/vector_steps.hpp"
#include "hilo/model/corrected_steps.hpp"
#include "hilo/policy/network_policy.hpp"

// For the sources of this folder only.
namespace hilo {

// The residual of a cheap simulator for agents that learn from many episodes. It is fitted to the
// newest of them, after 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, ... batches, so that there are few fits.
class LearntResidual {
 public:
  static constexpr std::size_t kMostSteps = 4000;  // of the newest episodes

  LearntResidual(NetworkShape shape, std::shared_ptr<const VectorSteps> low, std::uint64_t seed);

  // Takes a batch of episodes, the first of which has this number. Returns the steps of the cheap
  // simulator that it took.
  std::uint64_t add(const std::vector<VectorEpisode>& batch, std::uint32_t first_number);

  // The mean of what the residual may be; nothing before the first fit.
  Correction correction() const;

  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  void forget_old();

  NetworkShape shape_;
  std::shared_ptr<const VectorSteps> low_;
  std::uint64_t seed_;
  std::uint64_t num_batches_ = 0, next_fit_ = 1;
  ResidualData newest_, fitted_;
  std::shared_ptr<const ResidualModel> model_;
};

}  // namespace hilo
