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
  double returns = 0;  // high-fidelity returns of a pair by then; 0: as many as the pilot promises
  bool fading = true;  // whether old returns will fade, as they do in MFMCRL+
  double cost_high = 0;  // of one step of each fidelity; 0: as measured in the pilot, by time
  double cost_low = 0;
};

// What a pilot says about the cheap simulator, for the empirical-Bayes estimator and planned n.
struct Diagnosis {
  Advice advice = Advice::cannot_tell;
  std::string reason;                // one plain sentence
  std::uint64_t train_episodes = 0;  // that are planned
  double more_episodes = 0;          // that would tell, as far as one can say; 0 unless cannot_tell
  std::uint32_t episodes = 0;        // of the pilot
  std::size_t pairs_seen = 0, pairs_used = 0, returns = 0;
  double planned_returns = 0;   // n
  double free_per_coupled = 0;  // free returns that a pair has for each coupled one

  // Of the mean squared error against plain Monte Carlo with the same weights: -0.5 halves it.
  WithInterval change;
  double correlation = 0, alpha = 0;  // pooled within pairs
  double return_sd = 0;

  // Correlation pair by pair, of those with enough returns.
  struct PairCorrelation {
    State state;
    Action action;
    std::uint64_t returns;
    double correlation;
  };
  std::size_t correlated_pairs = 0;      // how many had enough
  double correlation_quantiles[5] = {};  // 0, 25, 50, 75, 100 %
  std::vector<PairCorrelation> least_correlated;

  // Do the dynamics differ? The bias b of a pair is what they add to its low-fidelity value, here
  // in units of the standard deviation of the pair's low-fidelity return.
  WithInterval bias_offset;  // mean of b over pairs
  double bias_spread = 0;    // standard deviation of b
  WithInterval bias_square;  // mean of b^2; clear of 0: they differ
  bool dynamics_differ = false;
  std::size_t pairs_tested = 0, pairs_different = 0;  // |d| beyond 1.96 of its standard errors

  // Costs. The cost ratio is that of one high-fidelity return to one free low-fidelity return.
  double cost_ratio = 0;
  bool cost_measured = false;
  double best_low_rollouts = 0;      // m
  double error_at_equal_cost = 0;    // with it, against plain Monte Carlo; below 1 it pays
  double break_even_cost_ratio = 0;  // the least at which it pays; infinite: never
};

Diagnosis diagnose(const Fidelities& pair, const Pilot& pilot, const DiagnosisPlan& plan);

}  // namespace hilo
