#include "hilo/evaluate/evaluation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hilo/core/error.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/estimator/costs.hpp"

namespace hilo {
namespace {

constexpr double kPilotShare = 0.03;  // of the budget, that the cheap part of the pilot may cost
constexpr double kSure = 1.645;       // standard errors: one in twenty is wrong
constexpr double kCareful = 1;        // standard errors below the correlation that a plan believes
constexpr double kPilotPart = 0.8;    // of the budget that a pilot may use, pairs included
constexpr double kFewestRounds = 2;   // without which there is no interval
constexpr double kGrowth = 1.5;       // of the number of pairs between two looks
constexpr double kFirstStage = 30;    // expensive episodes of each policy, if a width is wanted
constexpr double kChance = 4;  // sqrt(n) times the relative excess of a variance that chance gives
constexpr double kFreeGrowth = 2;            // of the number of free episodes between two looks
constexpr std::size_t kMostAsked = 100'000;  // at a time; the others once these are told
constexpr double kSlack = 1e-9;              // of rounding, when a budget is divided by a cost

std::uint64_t whole(double value) {
  return value > 0 ? static_cast<std::uint64_t>(std::min(value * (1 + kSlack), 1e15)) : 0;
}

// Free returns may vary more than the paired ones did, as when rare events were not among the
// pairs. Then the variance of the cheap simulator is taken from all of its returns, beyond what
// chance explains; its covariance with the expensive one cannot be known better than from the
// pairs.
void widen_by_free(Covariances& c, std::span<const PairedSample> samples) {
  for (std::size_t l = 1; l < c.size(); ++l) {
    double pairs = 0, all = 0, n = 0;
    for (const PairedSample& sample : samples) {
      if (sample.free[l - 1].empty()) continue;
      Moments of_pairs, of_all;
      for (const double x : sample.low[l - 1]) of_pairs.add(x);
      for (const double x : sample.low[l - 1]) of_all.add(x);
      for (const double x : sample.free[l - 1]) of_all.add(x);
      pairs += of_pairs.variance();
      all += of_all.variance();
      n = static_cast<double>(sample.high.size());
    }
    if (!(all > 0)) continue;
    const double excess = pairs > 0 ? all / pairs / (1 + kChance / std::sqrt(n)) : 1;
    if (excess > 1) c.set(l, l, c.variance(l) * excess);
  }
}

}  // namespace

Evaluation::Evaluation(EvaluationRules rules)
    : rules_([&] {
        rules.charges_means = rules.charges_means || !(rules.cost > 0);
        return rules;
      }()),
      paired_(rules.num_cheap + 1),
      free_(rules.num_cheap + 1),
      reasons_(rules.num_cheap),
      dropped_(rules.num_cheap),
      wanted_(rules.num_cheap + 1, 1),
      wanted_free_(rules.num_cheap + 1, 0) {
  require_within("number of cheap simulators", std::uint64_t{rules.num_cheap}, 0, kMostCheap,
                 Errc::usage);
  require_within("number of policies", std::uint64_t{rules.num_policies}, 1, 1000, Errc::usage);
  if (!(rules.episodes > 0) && !(rules.cost > 0))
    throw Error(Errc::usage, "an evaluation needs a budget, in expensive episodes or in cost");
  const double rounds = rules.episodes / static_cast<double>(rules.num_policies);
  if (rules.cost <= 0 && rounds < kFewestRounds)
    throw Error(
        Errc::usage,
        fmt::format("the budget is {} expensive episodes, but {} {} at least {}", rules.episodes,
                    rules.num_policies, rules.num_policies == 1 ? "policy needs" : "policies need",
                    kFewestRounds * static_cast<double>(rules.num_policies)));
  if (rules.cost <= 0 && rounds * kPilotPart < static_cast<double>(least_pairs(1)))
    for (std::size_t l = 1; l <= rules.num_cheap; ++l)
      drop(l, "not tried: the budget is too small for the pairs that a judgement needs");
  for (std::size_t l = 1; l <= rules.num_cheap && l < rules.known_costs.size(); ++l) {
    const double budget = rules.cost > 0 ? rules.cost : rules.episodes * rules.known_costs[0];
    const double share = rules.known_costs[l] * static_cast<double>(rules.num_policies);
    if (static_cast<double>(least_pairs(1)) * share > kPilotShare * budget)
      drop(l,
           fmt::format("not tried: the episodes to judge it would cost more than {:.0f} % of the "
                       "budget",
                       100 * kPilotShare));
  }
  if (!(rules.until >= 0) || !(rules.alpha > 0 && rules.alpha < 1))
    throw Error(Errc::usage, "an evaluation needs a width from 0 on, and a level between 0 and 1");
  for (auto* all : {&paired_, &free_})
    for (Returns& returns : *all) returns.values.resize(rules.num_policies);
}

double Evaluation::budget() const {
  if (rules_.cost > 0) return rules_.cost;
  return rules_.episodes;
}

double Evaluation::charged(const Returns& returns, std::size_t simulator) const {
  if (rules_.charges_means && costs_fixed_ > 0)
    return static_cast<double>(returns.count) * costs_[simulator];
  double sum = 0;
  for (const double cost : returns.costs) sum += cost;
  return sum;
}

double Evaluation::spent() const {
  double sum = 0;
  for (std::size_t s = 0; s <= rules_.num_cheap; ++s)
    sum += charged(paired_[s], s) + charged(free_[s], s);
  for (const double cost : skipped_costs_) sum += cost / unit_;
  return sum;
}

double Evaluation::actual_cost(std::size_t simulator) const {
  double sum = 0;
  for (const Returns* returns : {&paired_[simulator], &free_[simulator]})
    for (const double cost : returns->costs) sum += cost;
  return sum;
}

double Evaluation::actual_cost() const {
  double sum = 0;
  for (std::size_t s = 0; s <= rules_.num_cheap; ++s) sum += actual_cost(s);
  for (const double cost : skipped_costs_) sum += cost;
  return sum;
}

double Evaluation::pilot_cheap() const {
  double sum = 0;
  for (std::size_t s = 1; s <= rules_.num_cheap; ++s) sum += charged(paired_[s], s);
  return sum;
}

// Costs that are charged as means are fixed twice, after the first episode and after the pilot, so
// that they steer nothing any more. Others are means of all episodes so far.
void Evaluation::update_costs() {
  if (rules_.charges_means && (costs_fixed_ == 2 || (costs_fixed_ == 1 && phase_ == Phase::first)))
    return;
  std::vector<double> means;
  for (std::size_t s = 0; s <= rules_.num_cheap; ++s) {
    const auto count = static_cast<double>(num_episodes(s));
    means.push_back(count > 0 ? actual_cost(s) / count : 0);
  }
  costs_ = fix_costs_ && costs_fixed_ < 2 ? fix_costs_(costs_fixed_, means) : means;
  costs_fixed_ = std::min(costs_fixed_ + 1, 2);
  if (rules_.cost > 0) {
    if (!(costs_[0] > 0))
      throw Error(Errc::usage,
                  "expensive episodes cost nothing, so that a budget in cost would never be spent: "
                  "give it in episodes");
    return;
  }
  // For a budget in episodes the unit is an expensive episode of one policy.
  const auto policies = static_cast<double>(rules_.num_policies);
  unit_ = costs_[0] > 0 ? costs_[0] / policies : 1;
  for (double& cost : costs_) cost /= unit_;
  costs_[0] = policies;
}

// What may be spent before costs are looked at again. Where the cost of an episode is only known
// afterwards, spending half of what is left at a time keeps within the budget.
double Evaluation::purse() const {
  constexpr double kLastEpisodes = 4;
  const double left = free_budget();
  return rules_.charges_means || left <= kLastEpisodes * costs_[0] ? left : left / 2;
}

double Evaluation::first_budget() const {
  return rules_.until > 0 ? std::min(budget(), kFirstStage * costs_[0]) : budget();
}

double Evaluation::cheap_cost(const Cheap& cheap) const {
  double out = 0;
  for (const std::size_t l : cheap) out += costs_[l];
  return out;
}

std::uint64_t Evaluation::num_pairs() const { return paired_[0].count; }
std::uint64_t Evaluation::num_free(std::size_t simulator) const { return free_[simulator].count; }
std::uint64_t Evaluation::num_episodes(std::size_t simulator) const {
  return paired_[simulator].count + free_[simulator].count;
}

void Evaluation::keep(Returns& returns, std::uint64_t index, std::span<const double> values,
                      double cost) {
  if (returns.known.size() <= index) {
    returns.known.resize(index + 1, false);
    returns.costs.resize(index + 1, 0);
    for (auto& of_policy : returns.values) of_policy.resize(index + 1, 0);
  }
  if (returns.known[index]) throw Error(Errc::usage, "an episode of an evaluation was told twice");
  returns.known[index] = true;
  returns.costs[index] = cost;
  ++returns.count;
  for (std::size_t p = 0; p < values.size(); ++p) returns.values[p][index] = values[p];
}

void Evaluation::tell(const EvaluationRound& round, std::span<const double> values, double cost) {
  if (round.simulator > rules_.num_cheap || (round.free && round.simulator == 0) ||
      values.size() != rules_.num_policies)
    throw Error(Errc::usage, "an episode of an evaluation was told that was not asked for");
  for (const double value : values)
    if (!std::isfinite(value))
      throw Error(Errc::simulator,
                  fmt::format("the value of an episode is {}, but must be finite", value));
  keep((round.free ? free_ : paired_)[round.simulator], round.index, values, cost);
}

void Evaluation::skip(std::uint64_t index, double cost) {
  if (is_skipped_.size() <= index) {
    is_skipped_.resize(index + 1, false);
    skipped_costs_.resize(index + 1, 0);
  }
  if (!is_skipped_[index]) ++skipped_;
  is_skipped_[index] = true;
  skipped_costs_[index] += cost;
  // What it has cost is missing for others. The next plan looks at all of it again.
  if (costs_.empty() || !(costs_[0] > 0)) return;
  const auto lost = static_cast<std::uint64_t>(std::ceil(cost / unit_ / costs_[0]));
  wanted_[0] = std::max(paired_[0].count, wanted_[0] - std::min(wanted_[0], lost));
  for (std::size_t l = 1; l <= rules_.num_cheap; ++l) wanted_[l] = std::min(wanted_[l], wanted_[0]);
}

void Evaluation::drop(std::size_t simulator, const std::string& reason) {
  dropped_[simulator - 1] = true;
  reasons_[simulator - 1] = reason;
  wanted_[simulator] = wanted_free_[simulator] = 0;
  std::erase(tried_, simulator);
  if (std::erase(chosen_, simulator) > 0 && chosen_.empty()) go_on_plainly();
}

std::vector<EvaluationRound> Evaluation::missing() const {
  std::vector<EvaluationRound> out;
  for (std::size_t s = 0; s <= rules_.num_cheap; ++s) {
    const Returns& paired = paired_[s];
    std::uint64_t found = 0;
    for (std::uint64_t index = 0; found < wanted_[s] && out.size() < kMostAsked; ++index) {
      if (is_skipped(index)) continue;
      ++found;
      if (index >= paired.known.size() || !paired.known[index])
        out.push_back({.simulator = s, .free = false, .index = index});
    }
    for (std::uint64_t index = 0; index < wanted_free_[s] && out.size() < kMostAsked; ++index)
      if (index >= free_[s].known.size() || !free_[s].known[index])
        out.push_back({.simulator = s, .free = true, .index = index});
  }
  return out;
}

std::vector<EvaluationRound> Evaluation::ask() {
  while (!done_) {
    std::vector<EvaluationRound> rounds = missing();
    if (!rounds.empty()) return rounds;
    plan();
  }
  return {};
}

void Evaluation::plan() {
  update_costs();
  switch (phase_) {
    case Phase::first: {
      stage_budget_ = first_budget();
      plan_pilot();
      return;
    }
    case Phase::pilot: {
      if (stages_.empty()) stage_budget_ = first_budget();
      if (tried_.empty()) return go_on_plainly();
      if (const auto found = best_judgement(tried_, kSure)) return adopt(*found);
      // Nothing is sure yet. More pairs may help as long as they are within the pilot's share.
      const double room = kPilotShare * stage_budget_ - pilot_cheap();
      const double more = std::ceil((kGrowth - 1) * static_cast<double>(wanted_[tried_[0]]));
      const double most = std::min({cheap_cost(tried_) > 0 ? room / cheap_cost(tried_) : more, more,
                                    most_pilot() - static_cast<double>(wanted_[tried_[0]])});
      if (most >= 1 && best_judgement(tried_, -kSure)) {
        for (const std::size_t l : tried_) wanted_[l] += whole(most);
        wanted_[0] = std::max(wanted_[0], wanted_[tried_[0]]);
        return;
      }
      return go_on_plainly();
    }
    case Phase::pairing: {
      const auto found = judge(chosen_, 0);
      if (found) return adopt(*found);
      if (rests_on_few(chosen_)) {  // more pairs may show more of what is rare
        chosen_.clear();
        phase_ = Phase::pilot;
        return plan();
      }
      for (const std::size_t l : chosen_)
        reasons_[l - 1] = "at first it seemed to pay, but with more episodes it did not";
      return go_on_plainly();
    }
    case Phase::freeing: {
      const auto found = judge(chosen_, 0);
      if (found) return buy_free(*found);
      for (const std::size_t l : chosen_)
        reasons_[l - 1] = "its further returns vary more than the paired ones had shown";
      return go_on_plainly();
    }
    case Phase::plainly:
      if (!rules_.charges_means && costs_[0] > 0 && whole(purse() / costs_[0]) > 0)
        return go_on_plainly();
      return end_stage();
    case Phase::finishing:
      return end_stage();
  }
}

void Evaluation::plan_pilot() {
  Cheap by_cost;
  for (std::size_t l = 1; l <= rules_.num_cheap; ++l)
    if (!dropped_[l - 1]) by_cost.push_back(l);
  std::ranges::stable_sort(by_cost, {}, [&](std::size_t l) { return costs_[l]; });
  const double share = kPilotShare * stage_budget_ - pilot_cheap();
  tried_.clear();
  for (const std::size_t l : by_cost) reasons_[l - 1].clear();
  for (const std::size_t l : by_cost) {
    Cheap with = tried_;
    with.push_back(l);
    const auto least = static_cast<double>(least_pairs(with.size()));
    // Episodes that are paired already cost nothing more.
    const double most = std::min(
        most_pilot(), cheap_cost(with) > 0
                          ? static_cast<double>(paired_[l].count) + share / cheap_cost(with)
                          : most_pilot());
    if (least > most_pilot())
      reasons_[l - 1] = fmt::format(
          "not tried: the budget is too small for the {} pairs that a judgement needs", least);
    else if (least > most || !can_pay(l, most))
      reasons_[l - 1] = fmt::format(
          "not tried: the episodes to judge it would cost more than {:.0f} % of the budget",
          100 * kPilotShare);
    else
      tried_ = with;
  }
  if (tried_.empty()) return go_on_plainly();
  const double cost = cheap_cost(tried_);
  const auto least = static_cast<double>(least_pairs(tried_.size()));
  const double most =
      std::min(most_pilot(), cost > 0 ? static_cast<double>(paired_[tried_[0]].count) + share / cost
                                      : most_pilot());
  const std::uint64_t pairs = whole(std::clamp(least + 4, least, most));
  wanted_[0] = std::max(wanted_[0], pairs);
  for (const std::size_t l : tried_) wanted_[l] = std::max(wanted_[l], pairs);
  phase_ = Phase::pilot;
}

// A pilot leaves some of the budget for what it may recommend.
double Evaluation::most_pilot() const {
  return costs_[0] > 0 ? kPilotPart * stage_budget_ / costs_[0] : 1e6;
}

// Whether so many pairs could ever show that a cheap simulator pays.
bool Evaluation::can_pay(std::size_t l, double pairs) const {
  const Predictability perfect{
      .n = static_cast<std::size_t>(pairs), .num_cheap = 1, .effective = pairs, .r2 = 1};
  return !(costs_[l] > 0) || error_at_equal_cost(perfect.lower(kSure), costs_[0] / costs_[l]) < 1;
}

// With the cheap returns as they are, or without the far ones: whichever pays more.
std::optional<Evaluation::Judgement> Evaluation::judge(const Cheap& cheap, double z) const {
  auto as_they_are = judge(cheap, z, false);
  auto without_far = judge(cheap, z, true);
  if (!as_they_are) return without_far;
  if (!without_far) return as_they_are;
  return without_far->design.error_at_equal_cost < as_they_are->design.error_at_equal_cost
             ? without_far
             : as_they_are;
}

std::optional<Evaluation::Judgement> Evaluation::judge(const Cheap& cheap, double z,
                                                       bool without_far) const {
  const std::vector<PairedSample> samples = targets(cheap, without_far);
  const Predictability seen = predictability(samples);
  if (seen.n < least_pairs(cheap.size())) return std::nullopt;
  const double rho = z >= 0 ? seen.lower(z) : seen.upper(-z);
  if (!(rho > 0)) return std::nullopt;
  Judgement out{.cheap = cheap,
                .without_far = without_far,
                .covariances = with_correlation(covariances_of(samples), rho),
                .costs = {costs_[0]},
                .design = {}};
  for (const std::size_t l : cheap) out.costs.push_back(costs_[l]);
  widen_by_free(out.covariances, samples);
  out.design = best_nested_design(out.covariances, out.costs);
  if (!(out.design.error_at_equal_cost < 1)) return std::nullopt;
  return out;
}

std::optional<Evaluation::Judgement> Evaluation::best_judgement(const Cheap& among,
                                                                double z) const {
  std::optional<Judgement> best;
  for (std::uint32_t subset = 1; subset < 1U << among.size(); ++subset) {
    Cheap cheap;
    for (std::size_t k = 0; k < among.size(); ++k)
      if ((subset >> k & 1U) != 0) cheap.push_back(among[k]);
    const auto found = judge(cheap, z);
    if (found && (!best || found->design.error_at_equal_cost < best->design.error_at_equal_cost))
      best = found;
  }
  return best;
}

// Buys more pairs if the best split has more of them, and free episodes otherwise.
void Evaluation::adopt(const Judgement& judgement) {
  chosen_ = judgement.cheap;
  without_far_ = judgement.without_far;
  const Judgement careful = judge(chosen_, kCareful, without_far_).value_or(judgement);
  double per_pair = costs_[0];
  for (std::size_t k = 0; k < chosen_.size(); ++k)
    per_pair += (1 + careful.design.free[k]) * costs_[chosen_[k]];
  const auto now = static_cast<double>(pairs_of(chosen_).size());
  const auto high = static_cast<double>(paired_[0].count);
  const double paired_cost = costs_[0] + cheap_cost(chosen_);
  const double affordable = now + purse() / paired_cost;
  double target = std::min(stage_budget_ / per_pair, affordable);
  target = std::min(target, std::max(now + 1, std::ceil(kGrowth * now)));
  target = std::max(target, high);  // every expensive episode gets its cheap partners
  if (whole(target) > whole(now)) {
    wanted_[0] = std::max(wanted_[0], whole(target));
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const std::size_t l = chosen_[k];
      wanted_[l] = wanted_[0];
      // Some free episodes come along: they are part of the plan, and show early what is rare.
      const double planned = std::min(now, careful.design.free[k] * now);
      wanted_free_[l] = std::max(free_[l].count, whole(planned));
    }
    phase_ = Phase::pairing;
    return;
  }
  buy_free(judgement);
}

// In steps, so that what they show can change the plan.
void Evaluation::buy_free(const Judgement& judgement) {
  without_far_ = judgement.without_far;
  const Judgement careful = judge(chosen_, kCareful, without_far_).value_or(judgement);
  const auto now = static_cast<double>(pairs_of(chosen_).size());
  double budget = free_budget();  // and what free episodes have cost, which are part of the split
  for (const std::size_t l : chosen_) budget += static_cast<double>(free_[l].count) * costs_[l];
  std::vector<double> counts = best_free_counts(careful.covariances, careful.costs, now, budget);
  bool is_all = true;
  for (std::size_t k = 0; k < chosen_.size(); ++k) {
    const std::size_t l = chosen_[k];
    const auto have = static_cast<double>(free_[l].count);
    double step = std::max({kFreeGrowth * have, now, 10.0});
    if (!rules_.charges_means && costs_[l] > 0)
      step = std::min(step, have + std::floor(purse() / cheap_cost(chosen_)));
    counts[k] = std::max(have, std::floor(counts[k] * (1 + kSlack)));
    is_all = is_all && (counts[k] <= step || step <= have);
    wanted_free_[l] = whole(std::min(counts[k], step));
    reasons_[l - 1] =
        without_far_ ? "its returns predict the expensive ones well enough to pay for its cost, if "
                       "those that lie far outside are taken for its median"
                     : "its returns predict the expensive ones well enough to pay for its cost";
  }
  for (const std::size_t l : tried_)
    if (std::ranges::find(chosen_, l) == chosen_.end() && !dropped_[l - 1])
      reasons_[l - 1] = "it adds too little to the others to pay for its cost";
  // What is to be expected, as opposed to what the plan is careful about.
  const std::vector<PairedSample> samples = targets(chosen_, without_far_);
  const Covariances seen =
      with_correlation(covariances_of(samples), std::sqrt(predictability(samples).r2));
  predicted_variance_ =
      controlled_variance(seen, now, counts) / static_cast<double>(samples.size());
  phase_ = is_all ? Phase::finishing : Phase::freeing;
}

void Evaluation::go_on_plainly() {
  chosen_.clear();
  explain_plain();
  wanted_[0] =
      std::max(wanted_[0], paired_[0].count + (costs_[0] > 0 ? whole(purse() / costs_[0]) : 0));
  phase_ = Phase::plainly;
}

bool Evaluation::rests_on_few(const Cheap& cheap) const {
  const Predictability seen = predictability(targets(cheap));
  return rests_on_few_events(seen.effective, static_cast<double>(seen.n));
}

void Evaluation::explain_plain() {
  for (const std::size_t l : tried_) {
    if (!reasons_[l - 1].empty()) continue;
    const std::vector<PairedSample> samples = targets({l});
    const Covariances c = covariances_of(samples);
    if (!(c.variance(0) > 0) || !(c.variance(1) > 0))
      reasons_[l - 1] =
          fmt::format("all returns of {} so far are equal",
                      c.variance(0) > 0 ? "this simulator" : "the expensive simulator");
    else if (rests_on_few({l}))
      reasons_[l - 1] =
          "returns vary mostly by a few rare events, too few to know how often the two agree on "
          "them";
    else if (judge({l}, 0))
      reasons_[l - 1] = fmt::format(
          "it seems to pay, but the {} pairs that a pilot may have are too few to be sure",
          samples.front().high.size());
    else
      reasons_[l - 1] =
          "its returns do not predict the expensive ones well enough to pay for its cost";
  }
}

void Evaluation::end_stage() {
  if (rules_.until <= 0) {
    done_ = true;
    return;
  }
  // Alpha is spent as 1/(k (k + 1)) of the whole at look k, which sums up to no more than all of
  // it.
  const auto look = static_cast<double>(stages_.size() + 1);
  const double alpha = rules_.alpha / (look * (look + 1));
  const double half = largest_half_width(alpha);
  stages_.push_back(
      {.budget = stage_budget_, .pairs = num_pairs(), .half_width = half, .alpha = alpha});
  const double most = budget();
  if (half <= rules_.until || stage_budget_ >= most * (1 - kSlack)) {
    done_ = true;
    return;
  }
  const double needed = 1.05 * stage_budget_ * std::pow(half / rules_.until, 2);
  stage_budget_ = std::min(most, std::clamp(needed, 1.3 * stage_budget_, 4 * stage_budget_));
  if (chosen_.empty())
    plan_pilot();
  else
    phase_ = Phase::pairing;
}

}  // namespace hilo
