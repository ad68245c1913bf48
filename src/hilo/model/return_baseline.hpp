#pragma once

#include <vector>

#include "hilo/core/archive.hpp"
#include "hilo/policy/network_policy.hpp"
#include "hilo/rollout/path_batch.hpp"

namespace hilo {

// What is left to be earned, as a function of the state and of the time that has passed: linear
// regression of discounted returns-to-go on the inputs of a network, their squares, and powers of
// the time (Duan et al. 2016). Subtracted from returns it makes policy gradients less noisy, and if
// it was fitted to other episodes it brings no bias. Older batches count for less, because policies
// change.
class ReturnBaseline {
 public:
  // Sums over batches, each batch times kKept for every later one. Nothing is kept of the paths.
  static constexpr double kKept = 0.7;

  ReturnBaseline(const NetworkShape& shape, std::uint32_t max_steps);

  // Learns from the returns-to-go of a batch of paths.
  void add(const PathBatch& paths, std::span<const double> returns);
  bool is_fitted() const { return !weights_.empty(); }

  // Its value before every step of the paths; 0 before it has learnt anything.
  std::vector<double> at(const PathBatch& paths) const;

  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  std::size_t num_features() const;
  void solve();

  NetworkShape shape_;
  double time_scale_;
  std::vector<double> products_, sums_;  // of features; of features and returns
  double count_ = 0;
  std::vector<double> weights_;
};

}  // namespace hilo
