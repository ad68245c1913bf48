#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hilo/driver/evaluator.hpp"

namespace hilo {

struct PolicyResult {
  std::string name;
  EvaluatedValue value;
  // Half the width of the interval that plain expensive episodes would have given for the cost of
  // all episodes, cheap ones included, by what they have shown.
  double plain_half_width = 0;
};

// Policy a minus policy b.
struct PolicyComparison {
  std::size_t a = 0, b = 0;
  EvaluatedValue difference;

  bool is_clear() const {
    const ValueEstimate& e = difference.best;
    return e.has_interval && (e.low > 0 || e.high < 0);
  }
};

struct SimulatorUse {
  std::string name;
  std::uint64_t episodes = 0, free = 0;  // of each policy; free ones are among the episodes
  std::uint64_t steps = 0;
  double mean_cost = 0;                      // of an episode of one policy
  double share = 0;                          // of all that was spent
  std::optional<CheapVerdict> verdict = {};  // of a cheap one
};

// The result of an evaluation that is done.
struct EvaluationOutcome {
  std::string name, quantity, coupling;
  double level = 0.95;  // of the intervals
  std::vector<PolicyResult> policies;
  std::vector<PolicyComparison> comparisons;  // of all pairs; their intervals hold together
  std::optional<std::size_t> best;            // the policy that is clearly better than all others
  std::vector<SimulatorUse> simulators;       // the expensive one first
  std::vector<std::vector<double>> correlations;  // between simulators; empty without a cheap one
  std::vector<EvaluationStage> stages;
  double until = 0;
  double spent = 0;  // cost of all episodes
  // Expensive episodes of each policy that would have cost as much as all of these.
  double equal_episodes = 0;
  CostUnit unit = CostUnit::declared;
  std::uint64_t skipped = 0, failed = 0, replayed = 0, paid = 0;
  std::vector<std::string> notes;

  bool helped() const;  // whether a cheap simulator was used
};

// Throws Errc::simulator if there are fewer than two expensive episodes.
EvaluationOutcome outcome_of(const Evaluator& evaluator, const std::string& coupling,
                             const std::vector<std::string>& notes);

}  // namespace hilo
