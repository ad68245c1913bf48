#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hilo/agent/vector_agent.hpp"
#include "hilo/core/adam.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/env/vector_fidelities.hpp"
#include "hilo/estimator/gradient_control.hpp"
#include "hilo/model/return_baseline.hpp"
#include "hilo/policy/network_policy.hpp"
#include "hilo/rollout/path_batch.hpp"

namespace hilo {

class LearntResidual;

// What stands beside an expensive episode: nothing, the cheap simulator, or the cheap simulator
// with its residual, learnt from earlier batches.
enum class GradientControl : std::uint8_t { none, low, corrected };

struct GradientOptions {
  std::vector<std::size_t> layers = {10};
  std::uint32_t batch = 10;         // expensive episodes for an update
  std::uint32_t low_rollouts = 10;  // m: free cheap paths for each of them
  GradientControl control = GradientControl::low;
  bool starts_at_low_optimum = false;  // instead of a random network
  std::uint64_t low_steps = 0;         // of the search for it, as in CorrectedOptions
  double noise = 0.3;                  // of actions in a box, in units of half its width
  double step_size = 0.02;             // of Adam
  double gamma = 1;
  std::uint32_t max_steps = 200;
  std::size_t threads = 0;  // of the search for the cheap optimum
  // Known from elsewhere, instead of what earlier batches say.
  std::optional<double> coefficient = {};
};

// Policy gradient (REINFORCE) for a network, with the gradient of the cheap simulator as control
// variate. For every batch of n expensive episodes:
//
//   h_i = sum_t gamma^t (G_t - b(s_t, t)) grad log pi(a_t | s_t)     of expensive episode i
//   l_i = the same of a cheap path with the same start and the same random words
//   g   = mean h_i + c (mean of the l of m n free cheap paths - mean l_i)
//   theta <- theta + Adam(g)
//
// g has no bias: the coefficient c, both baselines b and the residual come from earlier batches
// alone, and the free paths have the start distribution, the policy and the length of the paired
// ones. Where start states cannot be drawn, the free paths begin at the starts that were seen, m at
// each, and only the variance within starts is reduced.
class PolicyGradient final : public VectorAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 1;
  static constexpr std::uint32_t kArchiveVersion = 2;

  PolicyGradient(VectorFidelities pair, GradientOptions options, std::uint64_t seed);
  ~PolicyGradient() override;

  std::unique_ptr<const Policy> policy() const override;
  std::unique_ptr<const Policy> greedy_policy() const override;
  PolicyArtifact artifact() const override;
  LearnReport prepare() override;
  LearnReport learn(const VectorEpisode& episode) override;
  std::uint64_t episodes() const override { return num_episodes_; }
  std::vector<Fact> findings() const override;
  std::vector<std::string> remarks() const override;
  std::vector<std::byte> save() const override;
  void load(std::span<const std::byte> bytes) override;

  const NetworkShape& shape() const { return shape_; }
  std::span<const double> weights() const { return weights_; }
  // For tests: other weights, before anything else.
  void set_weights(std::vector<double> weights) { weights_ = std::move(weights); }
  // Of the last batch: g, and the mean of h without a control variate.
  std::span<const double> last_gradient() const { return last_gradient_; }
  std::span<const double> last_plain_gradient() const { return last_plain_; }
  double last_coefficient() const { return coefficient_; }
  const GradientMoments::State& moments() const { return moments_.state(); }

 private:
  bool has_control() const { return options_.control != GradientControl::none; }
  std::uint32_t batch_number() const {
    return static_cast<std::uint32_t>((num_episodes_ - seen_.size()) / options_.batch);
  }
  std::shared_ptr<const VectorSteps> cheap() const;
  void learn_scales(const PathBatch& paths);
  PathBatch cheap_paths(const Columns& starts, const std::vector<Stream>& streams);
  std::vector<double> low_returns(const PathBatch& paths) const;
  void use_cut(std::uint32_t length);
  void widen_low_limit(const PathBatch& paths);
  std::uint32_t number_of(std::size_t i) const;
  std::vector<Stream> paired_streams() const;
  Columns paired_starts();
  void draw_free_starts(const StreamAddress& address, std::size_t first, const Columns& paired,
                        Columns& starts) const;
  std::vector<double> mean_of_free_paths(const Columns& paired);
  double next_coefficient() const;
  void update();

  // Where paired cheap paths begin, and what free paths have in common with that: the starts of the
  // expensive simulator, which can be drawn; the cheap simulator's own, which are the same; or the
  // starts that were seen.
  enum class Starts : std::uint8_t { of_high, of_low, seen };

  VectorFidelities pair_;
  GradientOptions options_;
  std::uint64_t seed_;
  Horizon horizon_;
  // Expensive simulators may cut their episodes earlier than they were asked to; cheap paths are
  // cut there from the next batch on.
  Horizon low_horizon_;
  std::uint32_t cut_at_ = 0;  // the longest expensive episode that was truncated; 0: none was
  NetworkShape shape_;
  Starts starts_ = Starts::seen;
  bool is_prepared_ = false;
  std::uint64_t num_episodes_ = 0;
  std::vector<double> weights_;
  Adam adam_;
  GradientMoments moments_;
  ReturnBaseline high_baseline_, low_baseline_;
  double low_limit_ = 0;  // of returns of cheap paths
  std::unique_ptr<LearntResidual> residual_;
  std::vector<VectorEpisode> seen_;  // of the batch under way
  double coefficient_ = 0;
  std::vector<double> last_gradient_, last_plain_;
  std::uint64_t steps_ = 0;  // of the cheap simulator, in the call under way
};

// What `pg`, and other kinds that go on as it does, have in a spec.
std::vector<ParameterInfo> gradient_parameters();

// The gradient of each path, one column after the other: sum over its steps of
// gamma^t (return-to-go - baseline) d log pi(a | s) / d weights.
std::vector<double> path_gradients(const NetworkShape& shape, std::span<const double> weights,
                                   double noise, const PathBatch& paths,
                                   std::span<const double> advantages, double gamma);
// Their sum.
std::vector<double> sum_of_gradients(const NetworkShape& shape, std::span<const double> weights,
                                     double noise, const PathBatch& paths,
                                     std::span<const double> advantages, double gamma);

}  // namespace hilo
