#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "hilo/agent/policy_search.hpp"
#include "hilo/agent/vector_agent.hpp"
#include "hilo/env/vector_fidelities.hpp"
#include "hilo/model/calibration.hpp"
#include "hilo/model/end_limits.hpp"
#include "hilo/model/residual_model.hpp"

namespace hilo {

class LearntSimulator;

struct CorrectedOptions {
  std::vector<std::size_t> layers = {10};  // units of the policy's network
  std::size_t scenarios = 24;              // fewer for episodes of more than 200 steps
  std::size_t population = 16;
  std::uint32_t restarts = 3;       // searches from scratch
  std::uint32_t generations = 120;  // of each search; the best one goes on for twice as many
  double noise = 0.1;               // on actions of training episodes
  double search_noise = 0.02;       // on actions in scenarios
  std::size_t frequencies = 150;    // of the residual
  std::size_t fit_points = 250;     // steps that its length scales are fitted to
  // If a search needs more steps of the cheap simulator, it is learnt from these instead; 0: only
  // if it is slow, from 8000.
  std::uint64_t low_steps = 0;
  std::vector<TuneRange> tune = {};  // numbers of the cheap simulator that are fitted first
  double gamma = 1;
  std::uint32_t max_steps = 200;
  std::size_t threads = 0;
  bool corrects = true;  // false: the optimum of the cheap simulator stays, whatever comes
};

// Steps that the searches of a round take, about, before the first episode and for these options.
double searched_steps(const CorrectedOptions& options);
// Whether a cheap simulator is learnt from some of its steps, because searches need too many.
bool learns_low(const CorrectedOptions& options, bool low_is_slow);
// How many of its steps it is learnt from.
std::uint64_t steps_to_learn(const CorrectedOptions& options);

// An expensive episode, one column for each step.
struct SeenPath {
  SeenPath() = default;
  SeenPath(const VectorEpisode& episode, const NetworkShape& shape);
  // Adds what was seen minus what a cheap simulator expected.
  void add_residuals(std::uint32_t number, const Columns& expected, const double* rewards_of,
                     ResidualData& data) const;

  SeenSteps steps;
  std::vector<double> rewards;
};

// Learns how a cheap simulator errs, and optimises the policy in the corrected one.
//
//   1. Optimise the policy in the cheap simulator.
//   2. Run an expensive episode with it. Fit the numbers of the cheap simulator that may be wrong
//      (`tune`), and then the residual s' - f_cheap(s, a).
//   3. Optimise the policy in the corrected simulator, with another sample of the residual in each
//      scenario, so that errors of the model cannot be exploited. Go to 2.
//
// The greedy policy is not the last one but the one with the best evidence: its value in the
// corrected simulator, moved towards what expensive episodes have shown of it. The cheap optimum is
// always among the candidates. Without a cheap simulator the residual is that of a state that stays
// as it is. The same happens if the cheap simulator turns out to be worse than that.
class Corrected final : public VectorAgent {
 public:
  static constexpr std::uint32_t kAlgorithmVersion = 1;
  static constexpr std::uint32_t kArchiveVersion = 6;

  Corrected(VectorFidelities pair, CorrectedOptions options, std::uint64_t seed);
  ~Corrected() override;

  std::unique_ptr<const Policy> policy() const override;
  std::unique_ptr<const Policy> greedy_policy() const override;
  PolicyArtifact artifact() const override;
  LearnReport prepare() override;
  LearnReport learn(const VectorEpisode& episode) override;
  std::uint64_t episodes() const override { return num_episodes_; }
  std::optional<double> own_value() const override { return own_value_; }
  std::vector<Fact> findings() const override;
  std::vector<std::string> remarks() const override;
  std::vector<std::byte> save() const override;
  void load(std::span<const std::byte> bytes) override;

  const ResidualModel* model() const { return model_.get(); }
  // Whether the residual is that of the cheap simulator now.
  bool uses_low() const { return uses_low_; }
  // What the model's predictions for an episode are to be compared with: the residuals of the
  // simulator that it corrects now. For reports: it takes steps that no bill has.
  ResidualData residuals_of(const VectorEpisode& episode) const;
  // The cheap simulator as it was learnt; null if it is used itself.
  const LearntSimulator* learnt_low() const { return learnt_low_.get(); }

 private:
  // A policy and what expensive episodes have shown of it.
  struct Candidate {
    std::vector<double> weights;
    std::vector<double> start;  // of its episode; empty: it was not run yet
    double seen = 0;            // its return
  };

  std::shared_ptr<const VectorSteps> base() const;
  std::shared_ptr<const VectorSteps> cheap() const;
  Columns after_low(const SeenPath& path, std::uint32_t number, std::uint32_t pair,
                    const VectorSteps& simulator, StepResults& results) const;
  void check_tune() const;
  void tune_low();
  void count_steps(std::uint64_t steps) const {
    if (uses_low_ && !learnt_low_) steps_ += steps;
  }
  void use_calibration();
  std::size_t num_scenarios() const;
  void use_cut(std::uint32_t length);
  std::vector<Scenario> scenarios(std::uint32_t which, std::size_t count) const;
  void learn_low();
  void learn_scales_from_low();
  void learn_scales_from(const VectorEpisode& episode);
  void take_in(const VectorEpisode& episode);
  void compare_with_predictions(std::size_t first_step);
  void fit();
  ResidualOptions residual_options() const;
  double search();
  void search_briefly();
  void weigh_evidence();
  double mean_value(const std::vector<double>& weights,
                    const std::vector<Scenario>& scenarios) const;
  // What the model promises for the start of a candidate's episode, and how widely its samples and
  // scenarios disagree.
  struct Promise {
    double mean = 0, deviation = 0;
    // What a return falls short of it, beyond the deviation; never positive.
    double shortfall(double seen) const { return std::min(0.0, seen - mean + deviation); }
  };
  Promise promise_for(const Candidate& candidate) const;
  // Ends of the cheap simulator, and those that were learnt, where that has none.
  bool takes_ends_of_low() const { return cheap_ends_ < 3 || cheap_ends_ <= same_ends_; }
  bool takes_learnt_ends() const {
    return !uses_low_ || !takes_ends_of_low() || missed_ends_ > same_ends_;
  }
  std::uint32_t round() const { return static_cast<std::uint32_t>(num_episodes_); }

  VectorFidelities pair_;
  CorrectedOptions options_;
  std::uint64_t seed_;
  Horizon horizon_;
  std::uint32_t most_steps_ = 0;  // that episodes are asked to have
  std::uint32_t cut_at_ = 0;      // the longest expensive episode that was truncated; 0: none was
  NetworkShape shape_;
  std::uint64_t num_episodes_ = 0;
  bool is_prepared_ = false;
  bool uses_low_;
  std::shared_ptr<const VectorSteps> low_;  // with the values that were found for `tune`
  Calibration calibration_;
  std::vector<double> learnt_with_;   // the values with which a slow simulator was learnt
  std::vector<SeenPath> paths_;       // to fit these to
  ResidualData on_low_, on_nothing_;  // residuals of the cheap simulator, and of the state itself
  std::unique_ptr<LearntSimulator> learnt_low_;
  EndLimits ends_;  // of expensive episodes
  // Expensive steps after which both, only the cheap, or only the expensive simulator ended.
  std::uint64_t same_ends_ = 0, cheap_ends_ = 0, missed_ends_ = 0;
  std::shared_ptr<const ResidualModel> model_;
  std::vector<double> caution_;  // factors of its standard deviations, from errors on new episodes
  double held_ = 0;  // share of the last new episode's steps inside the model's 95 % intervals
  std::vector<std::vector<double>> starts_;  // of expensive episodes
  std::vector<double> cheap_optimum_, newest_, best_;
  std::vector<Candidate> played_;
  std::vector<double> gaps_;        // returns minus what was promised before the episode
  std::vector<double> shortfalls_;  // beyond the deviation of the promise
  std::optional<double> own_value_;
  // Steps of the cheap simulator itself, in the call under way. Steps of a model that has dropped
  // it, or has learnt it, are none.
  mutable std::uint64_t steps_ = 0;
};

}  // namespace hilo
