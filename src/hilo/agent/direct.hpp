#pragma once

#include <vector>

#include "hilo/agent/vector_agent.hpp"
#include "hilo/core/cma.hpp"
#include "hilo/policy/network_policy.hpp"

namespace hilo {

struct DirectOptions {
  std::vector<std::size_t> layers = {10};
  std::size_t population = 16;
  double sigma = 0.5;
  double gamma = 1;
};

// Policy search on the expensive simulator itself: every candidate of CMA-ES is run for one
// episode. What one does without a model and without a cheap simulator.
class Direct final : public VectorAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 1;
  static constexpr std::uint32_t kArchiveVersion = 1;

  Direct(const VectorSimulator& high, DirectOptions options, std::uint64_t seed);

  std::unique_ptr<const Policy> policy() const override;
  std::unique_ptr<const Policy> greedy_policy() const override;
  PolicyArtifact artifact() const override;
  LearnReport learn(const VectorEpisode& episode) override;
  std::uint64_t episodes() const override { return returns_.size(); }
  std::vector<std::byte> save() const override;
  void load(std::span<const std::byte> bytes) override;

 private:
  void tell(double value);
  std::vector<double> candidate() const;

  DirectOptions options_;
  std::uint64_t seed_;
  NetworkShape shape_;
  Cma cma_;
  Columns candidates_;           // of the generation under way
  std::vector<double> losses_;   // of those that were run
  std::vector<double> returns_;  // of all episodes: with them the search can be repeated
};

}  // namespace hilo
