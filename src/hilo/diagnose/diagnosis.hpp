#pragma once

#include <string>
#include <vector>

#include "hilo/diagnose/pilot.hpp"
#include "hilo/env/fidelities.hpp"

namespace hilo {

enum class Advice : std::uint8_t { use, drop, cannot_tell };
std::string_view name_of(Advice advice);  // "use it", "drop it", "cannot tell yet"

// A number with its 95 % interval, from leaving out groups of episodes.
struct WithInterval {
  double value = 0, low = 0, high = 0;
};

struct DiagnosisPlan {
  std::uint64_t train_episodes = 10'000;
  double returns = 0;    // high-fidelity returns of a pair by then; 0: extrapolated from the pilot
  bool fading = true;    // whether old returns will fade, as they do in MFMCRL+
  double cost_high = 0;  // of one step of each fidelity; 0: by the time measured in the pilot
  double cost_low = 0;
};

// The findings of a pilot about the low fidelity, for the empirical-Bayes estimator and planned n.
struct Diagnosis {
  Advice advice = Advice::cannot_tell;
  std::string reason;                // one plain sentence
  std::uint64_t train_episodes = 0;  // planned
  double more_episodes = 0;          // a guess of what is needed to tell; 0 unless cannot_tell
  std::uint32_t episodes = 0;        // of the pilot
  std::size_t pairs_seen = 0, pairs_used = 0, returns = 0;
  double planned_returns = 0;   // n
  double free_per_coupled = 0;  // free returns that a pair has for each coupled one

  // The relative change of the mean squared error, compared with plain Monte Carlo with the same
  // weights: -0.5 halves it.
  WithInterval change;
  double correlation = 0, alpha = 0;  // pooled within pairs
  double return_sd = 0;

  // Correlations of single pairs that have enough returns.
  struct PairCorrelation {
    State state;
    Action action;
    std::uint64_t returns;
    double correlation;
  };
  std::size_t correlated_pairs = 0;      // number of such pairs
  double correlation_quantiles[5] = {};  // 0, 25, 50, 75, 100 %
  std::vector<PairCorrelation> least_correlated;

  // Whether the dynamics differ. The bias b of a pair is what their difference adds to its
  // low-fidelity value, here in units of the standard deviation of the pair's low-fidelity return.
  WithInterval bias_offset;  // mean of b over pairs
  double bias_spread = 0;    // standard deviation of b
  WithInterval bias_square;  // mean of b^2; if the interval is above 0, the dynamics differ
  bool dynamics_differ = false;
  std::size_t pairs_tested = 0, pairs_different = 0;  // different: |d| above 1.96 standard errors

  // Costs. The cost ratio is that of one high-fidelity return to one free low-fidelity return.
  double cost_ratio = 0;
  bool cost_measured = false;
  double best_low_rollouts = 0;      // m
  double error_at_equal_cost = 0;    // with that m, divided by plain Monte Carlo's; pays below 1
  double break_even_cost_ratio = 0;  // the smallest at which it pays; infinite: never
};

Diagnosis diagnose(const Fidelities& pair, const Pilot& pilot, const DiagnosisPlan& plan);

}  // namespace hilo
