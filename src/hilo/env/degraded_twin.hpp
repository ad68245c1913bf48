#pragma once

#include <cstdint>
#include <memory>

#include "hilo/env/projection.hpp"
#include "hilo/env/tabular_mdp.hpp"

namespace hilo {

struct DegradeOptions {
  double snr_db = -3;  // 10 log10(mean(X^2) / sigma^2), for the transitions and for the rewards
  Projection projection = Projection::simplex;
};

// What the noise did. Means are over all entries of the tensors, terminal rows included.
struct DegradationReport {
  double transition_sigma = 0, reward_sigma = 0;
  double transition_snr_db = 0, reward_snr_db = 0;   // realised
  double mean_abs_transition_difference_signed = 0;  // before the projection
  double mean_abs_transition_difference = 0;         // after it
  double mean_abs_reward_difference = 0;
  double negative_share = 0;  // of the entries of non-terminal rows, before the projection
};

struct DegradedTwin {
  std::shared_ptr<const TabularMdp> mdp;
  DegradationReport report;
};

// The paper's low fidelity: Gaussian noise on every transition probability and every reward, each
// row divided by its sum and then projected; terminal states stay as they are. The noise pattern
// depends on the seed alone, so that it is the same for every SNR and projection. Rewards of `high`
// must not depend on the successor.
DegradedTwin degrade(const TabularMdp& high, const DegradeOptions& options, std::uint64_t seed);

}  // namespace hilo
