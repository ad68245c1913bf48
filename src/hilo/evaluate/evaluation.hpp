#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hilo/estimator/cheap_gain.hpp"
#include "hilo/estimator/controlled_mean.hpp"

namespace hilo {

// What an evaluation may spend, and what for. Simulator 0 is the expensive one; cheap ones are 1 to
// K. All policies run every episode that is asked for, with the same random numbers.
struct EvaluationRules {
  std::size_t num_cheap = 0;
  std::size_t num_policies = 1;
  // The budget: the cost of so many expensive episodes, cheap ones included, or a cost.
  double episodes = 0;
  double cost = 0;
  // If positive: stop as soon as the interval is this narrow on either side. The budget is then the
  // most that is spent.
  double until = 0;
  double alpha = 0.05;  // of the intervals
  // From the pilot on, every episode is charged the mean cost of its simulator in the pilot. That
  // is always so for a budget in episodes, and needed for costs that are measured, which differ
  // from one process to the next.
  bool charges_means = false;
  // Costs of an episode of each simulator, where they are known before; empty if they are not.
  std::vector<double> known_costs = {};
};

// Episode `index` of a simulator, for all policies: paired ones share the random numbers of the
// expensive episode of that number, and free ones have numbers of their own.
struct EvaluationRound {
  std::size_t simulator = 0;
  bool free = false;
  std::uint64_t index = 0;
  auto operator<=>(const EvaluationRound&) const = default;
};

// A value with its interval.
struct ValueEstimate {
  double value = 0, standard_error = 0;
  double low = 0, high = 0;
  bool has_interval = false;  // there are at least two values, and they differ
  bool controlled = false;    // cheap simulators have sharpened it
};

// One quantity, by the expensive episodes alone and with the cheap simulators' help.
struct EvaluatedValue {
  ValueEstimate plain;  // from the same expensive episodes
  ValueEstimate best;   // the result
  double skewness = 0;  // of the single values, corrected ones where cheap simulators helped
  // Plain expensive episodes that would give the standard error of the result.
  double worth_episodes = 0;
  std::string caution;  // why the interval may be too short; "" if there is no reason
};

// What became of a cheap simulator.
struct CheapVerdict {
  bool used = false;
  double correlation = 0, low = 0, high = 0;  // with the expensive returns, 95 % interval
  std::uint64_t pairs = 0;                    // that the correlation rests on; 0: not known
  double coefficient = 0;                     // of the control variate, for the first quantity
  std::string reason;                         // why it was used or not, as a sentence
};

struct EvaluationStage {
  double budget = 0;        // in cost, that could be spent until then
  std::uint64_t pairs = 0;  // expensive episodes per policy
  double half_width = 0;    // the largest one
  double alpha = 0;         // that was spent on the look
};

// Decides which episodes an evaluation runs, and what their values say. It only sees numbers: who
// runs episodes, and what is measured, is not its business.
//
//   while (true) {
//     const auto rounds = evaluation.ask();
//     if (rounds.empty()) break;
//     for (const auto& round : rounds) evaluation.tell(round, values_of_all_policies, cost);
//   }
//
// A first episode of every simulator shows what they cost. A pilot, whose cheap part is at most 3 %
// of the budget and which is used like all else, shows how well cheap returns predict expensive
// ones. Cheap simulators are used if they pay for the lower confidence bound of that; the rest of
// the budget is then split to minimise the variance. Expensive episodes are bought in steps, and
// the decision is looked at again after each; free cheap episodes are bought last, so that a wrong
// first impression costs little.
class Evaluation {
 public:
  explicit Evaluation(EvaluationRules rules);

  // Episodes that are needed next, in any order; empty if it is done. What is not told is asked for
  // again.
  std::vector<EvaluationRound> ask();
  // One value for each policy, and the cost of them all.
  void tell(const EvaluationRound& round, std::span<const double> values, double cost);
  // An expensive round failed for good: it is left out. Costs of attempts that failed.
  void skip(std::uint64_t index, double cost);
  // Called when mean costs are fixed, the first time (0) for the size of the pilot and then (1) for
  // all that follows. Returns the costs to use, such as those that were written down before.
  using FixCosts = std::function<std::vector<double>(int time, const std::vector<double>& means)>;
  void set_fix_costs(FixCosts fix) { fix_costs_ = std::move(fix); }
  // A cheap simulator cannot be used.
  void drop(std::size_t simulator, const std::string& reason);

  bool is_done() const { return done_; }
  // As it is charged: in cost, or in expensive episodes if the budget is.
  double spent() const;
  double budget() const;
  double actual_cost() const;
  double actual_cost(std::size_t simulator) const;
  // Rounds of the expensive simulator that would have been charged as much.
  double equal_rounds() const {
    return costs_.empty() || !(costs_[0] > 0) ? 0 : spent() / costs_[0];
  }
  std::uint64_t skipped() const { return skipped_; }
  bool is_skipped(std::uint64_t index) const {
    return index < is_skipped_.size() && is_skipped_[index];
  }
  std::uint64_t num_pairs() const;                          // expensive episodes of each policy
  std::uint64_t num_episodes(std::size_t simulator) const;  // of each policy
  std::uint64_t num_free(std::size_t simulator) const;      // of these, free ones

  // These need at least two expensive episodes.
  EvaluatedValue value(std::size_t policy) const;
  // Policy a minus policy b, paired. `comparisons` intervals hold together.
  EvaluatedValue difference(std::size_t a, std::size_t b, std::size_t comparisons = 1) const;
  std::vector<CheapVerdict> verdicts() const;
  // Between all simulators, from the episodes that all of them have; empty without a cheap one.
  // Those of a comparison are between differences.
  std::vector<std::vector<double>> correlations() const;
  const std::vector<EvaluationStage>& stages() const { return stages_; }
  // The level of the final intervals: smaller than asked for if the stages have spent the rest.
  double alpha() const { return stages_.empty() ? rules_.alpha : stages_.back().alpha; }
  // Variance of the result, or of a difference in the mean over all pairs of policies, predicted
  // when the free episodes were planned; nothing without a plan.
  std::optional<double> predicted_variance() const { return predicted_variance_; }

 private:
  using Cheap = std::vector<std::size_t>;  // numbers of cheap simulators, counted from 1

  struct Judgement {
    Cheap cheap;
    bool without_far = false;    // with far cheap returns replaced (replace_far_values)
    Covariances covariances{1};  // with the correlation that the plan believes
    std::vector<double> costs;
    NestedDesign design;
  };

  std::vector<EvaluationRound> missing() const;
  void plan();
  void plan_pilot();
  double most_pilot() const;
  bool can_pay(std::size_t l, double pairs) const;
  std::optional<Judgement> judge(const Cheap& cheap, double z) const;
  std::optional<Judgement> judge(const Cheap& cheap, double z, bool without_far) const;
  std::optional<Judgement> best_judgement(const Cheap& among, double z) const;
  void adopt(const Judgement& judgement);
  void buy_free(const Judgement& judgement);
  void go_on_plainly();
  void explain_plain();
  bool rests_on_few(const Cheap& cheap) const;
  void end_stage();

  std::vector<std::uint64_t> pairs_of(const Cheap& cheap) const;
  // The quantities that planning looks at: the value, or all differences between policies.
  std::vector<PairedSample> targets(const Cheap& cheap, bool without_far = false) const;
  PairedSample sample(const Cheap& cheap, const std::vector<double>& contrast,
                      bool without_far = false) const;
  EvaluatedValue evaluate(const std::vector<double>& contrast, double alpha) const;
  double largest_half_width(double alpha) const;
  double free_budget() const { return stage_budget_ - spent(); }
  double purse() const;
  double pilot_cheap() const;  // what cheap episodes have cost so far
  double cheap_cost(const Cheap& cheap) const;
  void update_costs();
  double first_budget() const;

  // Returns of one simulator; values[policy][index].
  struct Returns {
    std::vector<std::vector<double>> values;
    std::vector<double> costs;  // [index]: sums do not depend on the order in which they came
    std::vector<bool> known;
    std::uint64_t count = 0;
  };
  static void keep(Returns& returns, std::uint64_t index, std::span<const double> values,
                   double cost);
  double charged(const Returns& returns, std::size_t simulator) const;

  EvaluationRules rules_;
  std::vector<Returns> paired_, free_;  // by simulator; free_[0] stays empty
  std::vector<double> costs_;           // of an episode of all policies
  int costs_fixed_ = 0;                 // how often, at most twice
  double unit_ = 1;                     // cost of what the budget counts
  FixCosts fix_costs_;
  std::vector<bool> is_skipped_;
  std::vector<double> skipped_costs_;  // [index]
  std::uint64_t skipped_ = 0;

  enum class Phase : std::uint8_t { first, pilot, pairing, freeing, plainly, finishing };
  Phase phase_ = Phase::first;
  bool done_ = false;
  double stage_budget_ = 0;
  Cheap tried_, chosen_;
  bool without_far_ = false;           // of the chosen ones
  std::vector<std::string> reasons_;   // by cheap simulator, counted from 0
  std::vector<bool> dropped_;          // by cheap simulator, counted from 0
  std::vector<std::uint64_t> wanted_;  // paired episodes, by simulator
  std::vector<std::uint64_t> wanted_free_;
  std::vector<EvaluationStage> stages_;
  std::optional<double> predicted_variance_;
};

}  // namespace hilo
