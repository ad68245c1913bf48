#include "hilo/agent/corrected.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hilo/agent/detail/corrected_streams.hpp"
#include "hilo/agent/detail/learnt_simulator.hpp"
#include "hilo/core/bulk_random.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/model/corrected_steps.hpp"
#include "hilo/policy/network_file.hpp"

namespace hilo {
namespace {

constexpr std::size_t kComparisonFactor = 4;  // scenarios to compare on, for each to search on
constexpr std::size_t kRecent = 3;            // episodes whose policies stay candidates
constexpr std::uint64_t kAlwaysAnew = 3;      // first rounds, which also search from scratch
constexpr std::uint64_t kSeldomAnew = 3;      // later every third one does
constexpr double kNearStep = 0.1;             // first step size of a search that starts at a policy

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double x : values) sum += x;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// Long episodes have fewer scenarios, so that a search takes no longer.
std::size_t scenarios_of(const CorrectedOptions& options) {
  constexpr std::size_t kUsualLength = 200, kFewScenarios = 6;
  if (options.max_steps <= kUsualLength) return options.scenarios;
  return std::min(options.scenarios,
                  std::max(kFewScenarios, options.scenarios * kUsualLength / options.max_steps));
}

}  // namespace

double searched_steps(const CorrectedOptions& options) {
  return static_cast<double>(scenarios_of(options) * options.population) * options.generations *
         (2.0 * options.restarts + 2) * options.max_steps;
}

bool learns_low(const CorrectedOptions& options, bool low_is_slow) {
  return low_is_slow || (options.low_steps > 0 &&
                         static_cast<double>(options.low_steps) < searched_steps(options));
}

std::uint64_t steps_to_learn(const CorrectedOptions& options) {
  constexpr std::uint64_t kSlowSteps = 8000;
  // More would not fit into memory, and make it hardly better.
  constexpr std::uint64_t kMostSteps = 50'000;
  return options.low_steps > 0 ? std::min(options.low_steps, kMostSteps) : kSlowSteps;
}

Corrected::Corrected(VectorFidelities pair, CorrectedOptions options, std::uint64_t seed)
    : pair_(std::move(pair)),
      options_(std::move(options)),
      seed_(seed),
      horizon_{.gamma = options_.gamma,
               .max_steps = std::min(options_.max_steps, pair_.high().time_limit())},
      shape_{.observations = pair_.high().observation_space(),
             .actions = pair_.high().action_space(),
             .angles = pair_.angles(),
             .centre = std::vector<double>(pair_.high().observation_space().dimension(), 0.0),
             .scale = std::vector<double>(pair_.high().observation_space().dimension(), 1.0),
             .layers = options_.layers},
      uses_low_(pair_.has_low()),
      on_low_(shape_.observations, shape_.actions, shape_.angles),
      on_nothing_(on_low_),
      ends_(shape_.observations.dimension()),
      caution_(on_low_.num_outputs(), 1.0) {
  shape_.check();
  require_searchable(shape_);
  low_ = pair_.shared_low();
  check_tune();
  options_.max_steps = most_steps_ = horizon_.max_steps;
  if (pair_.has_low() && learns_low(options_, low_->is_slow()))
    learnt_low_ = std::make_unique<LearntSimulator>(low_);
  // Without a cheap simulator the first policy is drawn at random, so that something moves.
  newest_.resize(shape_.num_weights());
  if (!pair_.has_low()) fill_normal(Stream(seed_, Purpose::search, 0, kFirstWeights), newest_);
  cheap_optimum_ = best_ = newest_;
}
Corrected::~Corrected() = default;

std::size_t Corrected::num_scenarios() const { return scenarios_of(options_); }

// An expensive simulator may cut its episodes earlier than it was asked to. Searches are for
// episodes of that length from then on.
void Corrected::use_cut(std::uint32_t length) {
  cut_at_ = std::max(cut_at_, length);
  horizon_.max_steps = cut_at_ > 0 ? std::min(most_steps_, cut_at_) : most_steps_;
  options_.max_steps = horizon_.max_steps;
}

std::unique_ptr<const Policy> Corrected::policy() const {
  return std::make_unique<const NetworkPolicy>(shape_, newest_,
                                               options_.corrects ? options_.noise : 0);
}
std::unique_ptr<const Policy> Corrected::greedy_policy() const {
  return std::make_unique<const NetworkPolicy>(shape_, best_);
}
PolicyArtifact Corrected::artifact() const { return network_artifact(shape_, best_); }

std::shared_ptr<const VectorSteps> Corrected::base() const {
  if (uses_low_) return cheap();
  return std::make_shared<const NoSimulator>(shape_.observations, shape_.actions, shape_.angles);
}

std::vector<Scenario> Corrected::scenarios(std::uint32_t which, std::size_t count) const {
  Columns starts(shape_.observations.dimension(), count);
  if (!pair_.draw_starts({.seed = seed_,
                          .purpose = Purpose::search,
                          .episode = round(),
                          .first_pair = kScenarioStarts + which},
                         starts)) {
    if (starts_.empty()) throw Error(Errc::usage, "nothing is known about start states yet");
    for (std::size_t i = 0; i < count; ++i) starts.set(i, starts_[i % starts_.size()]);
  }
  std::vector<Scenario> out;
  const std::shared_ptr<const VectorSteps> simulator = base();
  for (std::uint32_t i = 0; i < count; ++i) {
    Scenario scenario{
        .start = std::vector<double>(starts.rows()),
        .simulator = simulator,
        .stream = Stream(seed_, Purpose::search, round(), kScenarioNumbers + which, i),
        .correction = Correction(
            model_,
            model_ != nullptr
                ? model_->sample(Stream(seed_, Purpose::search, round(), kSamples + which, i))
                : ResidualSample(),
            takes_learnt_ends() ? ends_ : EndLimits(), takes_ends_of_low()),
        .action_noise = options_.search_noise};
    starts.get(i, scenario.start);
    out.push_back(std::move(scenario));
  }
  return out;
}

LearnReport Corrected::prepare() {
  if (is_prepared_) return {};
  is_prepared_ = true;
  if (!pair_.has_low()) return {};
  steps_ = 0;
  if (learnt_low_)
    learn_low();
  else
    learn_scales_from_low();
  if (search() < 0.99 * kExplodedReturn)  // in all scenarios
    throw Error(Errc::simulator,
                "the cheap simulator left the finite numbers with every policy that was tried: its "
                "states or rewards are not a number or infinite");
  cheap_optimum_ = best_ = newest_;
  return {.low_steps = steps_};
}

// Searches from scratch and from the policies there are. The best of them goes on, and the
// comparison is made in other scenarios than the search. Returns the value of the winner there.
double Corrected::search() {
  const std::vector<Scenario> fixed = scenarios(kForSearch, num_scenarios());
  SearchOptions search{.generations = options_.generations,
                       .population = options_.population,
                       .sigma = kFarStep,
                       .threads = options_.threads};
  std::uint32_t pair = kFirstSearch;
  std::vector<SearchResult> found;
  const auto run = [&](const std::vector<double>& from) {
    found.push_back(search_policy(shape_, from, fixed, horizon_, search, seed_, round(), pair++));
    count_steps(found.back().steps);
  };
  const bool is_first = num_episodes_ == 0;
  if (is_first || num_episodes_ <= kAlwaysAnew || num_episodes_ % kSeldomAnew == 0) {
    const std::vector<double> nothing(shape_.num_weights(), 0.0);
    for (std::uint32_t r = 0; r < options_.restarts * (is_first ? 2 : 1); ++r) run(nothing);
  }
  search.sigma = kNearStep;
  if (!is_first) run(newest_);
  const auto by_value = [](const SearchResult& r) { return -r.value; };
  std::ranges::stable_sort(found, {}, by_value);
  search.generations = 2 * options_.generations;
  run(found.front().weights);
  std::ranges::stable_sort(found, {}, by_value);
  found.resize(std::min(found.size(), kRecent));

  const std::vector<Scenario> others =
      scenarios(kForComparison, kComparisonFactor * num_scenarios());
  double best = std::numeric_limits<double>::lowest();
  for (const SearchResult& result : found)
    if (const double value = mean_value(result.weights, others); value > best) {
      best = value;
      newest_ = result.weights;
    }
  return best;
}

double Corrected::mean_value(const std::vector<double>& weights,
                             const std::vector<Scenario>& scenarios) const {
  std::uint64_t steps = 0;
  const auto returns = returns_of(shape_, weights, scenarios, horizon_, options_.threads, &steps);
  count_steps(steps);
  return mean_of(returns);
}

Corrected::Promise Corrected::promise_for(const Candidate& candidate) const {
  std::vector<Scenario> same = scenarios(kForComparison, num_scenarios());
  for (Scenario& scenario : same) {
    scenario.start = candidate.start;
    scenario.action_noise = options_.noise;  // that of expensive episodes
  }
  std::uint64_t steps = 0;
  Moments returns;
  for (const double value :
       returns_of(shape_, candidate.weights, same, horizon_, options_.threads, &steps))
    returns.add(value);
  count_steps(steps);
  return {.mean = returns.mean(), .deviation = std::sqrt(returns.variance())};
}

LearnReport Corrected::learn(const VectorEpisode& episode) {
  LearnReport report = prepare();
  steps_ = 0;
  if (episode.length() == 0)
    throw Error(Errc::simulator, "an episode without a step teaches nothing");
  if (!options_.corrects) {
    ++num_episodes_;
    return report;
  }
  const std::span<const double> start = episode.observations[0].coordinates();
  Candidate played{.weights = newest_,
                   .start = {start.begin(), start.end()},
                   .seen = summarise(episode, horizon_.gamma).discounted_return};
  if (model_ != nullptr || pair_.has_low()) {
    const Promise promise = promise_for(played);
    gaps_.push_back(played.seen - promise.mean);
    shortfalls_.push_back(promise.shortfall(played.seen));
  }
  if (!pair_.has_low() && num_episodes_ == 0) {
    learn_scales_from(episode);
    played.weights = newest_;
  }
  starts_.push_back(played.start);
  played_.push_back(std::move(played));
  if (episode.truncated) use_cut(static_cast<std::uint32_t>(episode.length()));
  const std::size_t first_step = on_nothing_.size();
  take_in(episode);
  compare_with_predictions(first_step);
  ++num_episodes_;
  tune_low();
  fit();
  search();
  weigh_evidence();
  report.low_steps += steps_;
  return report;
}

// Of each candidate: its value in the corrected simulator, less half of what its own episode fell
// short of the model's returns for the same start, beyond their own spread. A lucky episode is no
// evidence for a policy, but one that kept less than promised is evidence against it. Policies that
// were not run yet bear the mean of what earlier promises were short of, as if there had been one
// more that was kept.
void Corrected::weigh_evidence() {
  const std::vector<Scenario> others =
      scenarios(kForComparison, kComparisonFactor * num_scenarios());
  double shortfall = 0;
  const std::size_t recent = std::min(shortfalls_.size(), kRecent);
  for (std::size_t k = shortfalls_.size() - recent; k < shortfalls_.size(); ++k)
    shortfall += shortfalls_[k] / static_cast<double>(recent + 1);

  const std::vector<double> last_best = best_;
  double best = std::numeric_limits<double>::lowest();
  const auto consider = [&](const std::vector<double>& weights, double evidence) {
    const double value = mean_value(weights, others) + evidence;
    if (!(value > best)) return;
    best = value;
    best_ = weights;
  };
  consider(newest_, shortfall);
  const auto was_played = [&](const std::vector<double>& weights) {
    return std::ranges::find(played_, weights, &Candidate::weights) != played_.end();
  };
  if (!was_played(last_best)) consider(last_best, shortfall);
  for (std::size_t k = 0; k < played_.size(); ++k) {
    // The cheap optimum, the best so far, and the last ones.
    const bool is_candidate = (k == 0 && pair_.has_low()) || k + kRecent >= played_.size() ||
                              played_[k].weights == last_best;
    if (is_candidate)
      consider(played_[k].weights, 0.5 * promise_for(played_[k]).shortfall(played_[k].seen));
  }
  own_value_ = best;
}

std::vector<std::string> Corrected::remarks() const {
  if (!pair_.has_low() || uses_low_) return {};
  return {
      "the cheap simulator was dropped: expensive episodes that were left out are predicted better "
      "without it"};
}

std::vector<Fact> Corrected::findings() const {
  std::vector<Fact> out;
  if (own_value_ && std::isfinite(*own_value_)) out.push_back({"model_value", *own_value_});
  if (!gaps_.empty() && std::isfinite(gaps_.back())) out.push_back({"model_gap", gaps_.back()});
  if (model_ != nullptr && !model_->is_empty())
    out.push_back({"model_inflation", *std::ranges::max_element(model_->inflation())});
  for (std::size_t k = 0; k < calibration_.values.size(); ++k) {
    out.push_back({"tuned_" + std::to_string(k + 1), calibration_.values[k]});
    out.push_back({"tuned_" + std::to_string(k + 1) + "_sd", calibration_.deviations[k]});
  }
  if (num_episodes_ > 1 && model_ != nullptr && !model_->is_empty())
    out.push_back({"model_held", held_});
  if (pair_.has_low()) out.push_back({"uses_low", uses_low_ ? 1.0 : 0.0});
  return out;
}

}  // namespace hilo
