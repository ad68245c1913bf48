#include "hilo/agent/corrected.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hilo/agent/detail/learnt_simulator.hpp"
#include "hilo/core/bulk_random.hpp"
#include "hilo/core/error.hpp"
#include "hilo/model/corrected_steps.hpp"
#include "hilo/policy/network_file.hpp"

namespace hilo {
namespace {

// "Pair" of the streams of purpose `search`: what they are for. Searches have 16 and more.
enum StreamPair : std::uint32_t {
  kScenarioStarts = 0,   // and 1 for those that candidates are compared on
  kScenarioNumbers = 2,  // and 3: random numbers of their steps
  kFirstWeights = 4,
  kSamples = 6,  // and 7, of the model; 5 are its frequencies
  kFirstSearch = 16,
};
constexpr std::uint32_t kForSearch = 0, kForComparison = 1;
constexpr std::size_t kComparisonFactor = 4;       // scenarios to compare on, for each to search on
constexpr std::size_t kRecent = 3;                 // episodes whose policies stay candidates
constexpr std::uint64_t kAlwaysAnew = 3;           // first rounds, which also search from scratch
constexpr std::uint64_t kSeldomAnew = 3;           // later every third one does
constexpr std::uint64_t kSlowSteps = 8000;         // of a slow simulator, to learn it
constexpr std::uint32_t kLearningRounds = 4;       // in which it is learnt
constexpr std::size_t kRandomNetworks = 8;         // that explore it at first
constexpr double kExploration = 0.3;               // noise on the actions of those
constexpr double kFarStep = 0.5, kNearStep = 0.1;  // first step sizes: from scratch, from a policy

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double x : values) sum += x;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

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
  // Long episodes have fewer scenarios, so that a search takes no longer.
  constexpr std::size_t kUsualLength = 200, kFewScenarios = 6;
  if (horizon_.max_steps > kUsualLength)
    options_.scenarios =
        std::min(options_.scenarios,
                 std::max(kFewScenarios, options_.scenarios * kUsualLength / horizon_.max_steps));
  const double searched = static_cast<double>(options_.scenarios * options_.population) *
                          options_.generations * (2.0 * options_.restarts + 2) * horizon_.max_steps;
  if (pair_.has_low() &&
      (pair_.shared_low()->is_slow() ||
       (options_.low_steps > 0 && static_cast<double>(options_.low_steps) < searched)))
    learnt_low_ = std::make_unique<LearntSimulator>(pair_.shared_low());
  // Without a cheap simulator the first policy is drawn at random, so that something moves.
  newest_.resize(shape_.num_weights());
  if (!pair_.has_low()) fill_normal(Stream(seed_, Purpose::search, 0, kFirstWeights), newest_);
  cheap_optimum_ = best_ = newest_;
}
Corrected::~Corrected() = default;

std::unique_ptr<const Policy> Corrected::policy() const {
  return std::make_unique<const NetworkPolicy>(shape_, newest_,
                                               options_.corrects ? options_.noise : 0);
}
std::unique_ptr<const Policy> Corrected::greedy_policy() const {
  return std::make_unique<const NetworkPolicy>(shape_, best_);
}
PolicyArtifact Corrected::artifact() const { return network_artifact(shape_, best_); }

std::shared_ptr<const VectorSteps> Corrected::base() const {
  if (uses_low_) return learnt_low_ ? learnt_low_->simulator() : pair_.shared_low();
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

// Networks with random weights show how far the coordinates of a state reach.
void Corrected::learn_scales_from_low() {
  constexpr std::size_t kNetworks = 16, kStarts = 4;
  std::vector<double> drawn(shape_.num_weights() * kNetworks);
  fill_normal(Stream(seed_, Purpose::search, 0, kFirstWeights), drawn);
  Columns weights(shape_.num_weights(), kNetworks);
  for (std::size_t i = 0; i < kNetworks; ++i)
    weights.set(i, std::span<const double>(drawn).subspan(i * weights.rows(), weights.rows()));
  const std::size_t dimension = shape_.observations.dimension();
  std::vector<double> sums(dimension, 0.0), squares(dimension, 0.0);
  double count = 0;
  for (const Scenario& scenario : scenarios(kForSearch, kStarts)) {
    Columns states(dimension, kNetworks);
    Columns actions(shape_.actions.is_discrete() ? 1 : shape_.actions.dimension(), kNetworks);
    states.fill(scenario.start);
    StepResults results;
    results.resize(states.padded());
    const CorrectedSteps simulator(scenario.simulator, scenario.correction);
    for (std::uint32_t t = 0; t < horizon_.max_steps; ++t) {
      network_actions(shape_, weights, states, actions);
      simulator.step(states, actions, {&scenario.stream, 1}, t + 1, results);
      steps_ += kNetworks;
      for (std::size_t i = 0; i < kNetworks; ++i) {
        ++count;
        for (std::size_t d = 0; d < dimension; ++d) {
          sums[d] += states.at(d, i);
          squares[d] += states.at(d, i) * states.at(d, i);
        }
      }
      if (std::ranges::all_of(results.done.begin(), results.done.begin() + kNetworks,
                              [](std::uint8_t done) { return done != 0; }))
        break;
    }
  }
  for (std::size_t d = 0; d < dimension; ++d) {
    const double mean = sums[d] / count;
    const double deviation = std::sqrt(std::max(0.0, squares[d] / count - mean * mean));
    if (!(deviation > 1e-9) || !std::isfinite(deviation)) continue;
    shape_.scale[d] = deviation;
    // Symmetric where it nearly is: many systems are.
    if (std::abs(mean) > 0.5 * deviation) shape_.centre[d] = mean;
  }
}

// Weights are changed with the scales, so that policies stay what they were.
void Corrected::learn_scales_from(const VectorEpisode& episode) {
  std::size_t input = 0;
  for (std::size_t d = 0; d < shape_.observations.dimension(); ++d) {
    if (shape_.is_angle(d)) {
      input += 2;
      continue;
    }
    double largest = 0;
    for (std::size_t t = 0; t < episode.observations.size(); ++t)
      largest = std::max(largest, std::abs(episode.observations[t].coordinates()[d]));
    if (largest > 1e-9) {
      const std::size_t units = shape_.layers.empty() ? shape_.num_outputs() : shape_.layers[0];
      for (auto* weights : {&cheap_optimum_, &newest_, &best_})
        for (std::size_t u = 0; u < units; ++u)
          (*weights)[u * (shape_.num_inputs() + 1) + input] *= largest / shape_.scale[d];
      shape_.scale[d] = largest;
    }
    ++input;
  }
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
  search();
  cheap_optimum_ = best_ = newest_;
  return {.low_steps = learnt_low_ ? learnt_low_->steps() : steps_};
}

// Networks with random weights explore it, and then policies that were found in what is known of
// it: where a policy goes, the simulator must be known well.
void Corrected::learn_low() {
  const std::uint64_t steps =
      (options_.low_steps > 0 ? options_.low_steps : kSlowSteps) / kLearningRounds;
  std::vector<double> drawn(shape_.num_weights() * kRandomNetworks);
  fill_normal(Stream(seed_, Purpose::search, 0, kFirstWeights), drawn);
  std::vector<std::vector<double>> networks(kRandomNetworks);
  for (std::size_t i = 0; i < kRandomNetworks; ++i)
    networks[i].assign(drawn.begin() + static_cast<std::ptrdiff_t>(i * shape_.num_weights()),
                       drawn.begin() + static_cast<std::ptrdiff_t>((i + 1) * shape_.num_weights()));
  for (std::uint32_t round = 0; round < kLearningRounds; ++round) {
    learnt_low_->explore(shape_, networks, kExploration, std::max<std::uint64_t>(steps, 1),
                         horizon_.max_steps, seed_, round);
    learnt_low_->fit(residual_options(), seed_);
    if (round == 0) learn_scales_from_low();
    if (round + 1 == kLearningRounds) break;
    search_briefly();
    networks = {newest_, networks[round % networks.size()]};
  }
}

// A policy that is good enough to explore where good ones go.
void Corrected::search_briefly() {
  constexpr std::size_t kFewer = 3;
  const SearchResult found = search_policy(
      shape_, std::vector<double>(shape_.num_weights(), 0.0),
      scenarios(kForSearch, std::max<std::size_t>(options_.scenarios / kFewer, 1)), horizon_,
      {.generations = std::max<std::uint32_t>(options_.generations / kFewer, 1),
       .population = options_.population,
       .sigma = kFarStep,
       .threads = options_.threads},
      seed_, round(), kFirstSearch - 1);
  newest_ = found.weights;
}

// Searches from scratch and from the policies there are. The best of them goes on, and the
// comparison is made in other scenarios than the search.
void Corrected::search() {
  const std::vector<Scenario> fixed = scenarios(kForSearch, options_.scenarios);
  SearchOptions search{.generations = options_.generations,
                       .population = options_.population,
                       .sigma = kFarStep,
                       .threads = options_.threads};
  std::uint32_t pair = kFirstSearch;
  std::vector<SearchResult> found;
  const auto run = [&](const std::vector<double>& from) {
    found.push_back(search_policy(shape_, from, fixed, horizon_, search, seed_, round(), pair++));
    steps_ += found.back().steps;
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
      scenarios(kForComparison, kComparisonFactor * options_.scenarios);
  double best = std::numeric_limits<double>::lowest();
  for (const SearchResult& result : found)
    if (const double value = mean_value(result.weights, others); value > best) {
      best = value;
      newest_ = result.weights;
    }
}

double Corrected::mean_value(const std::vector<double>& weights,
                             const std::vector<Scenario>& scenarios) const {
  return mean_of(returns_of(shape_, weights, scenarios, horizon_, options_.threads, &steps_));
}

double Corrected::predicted_return(const Candidate& candidate) const {
  std::vector<Scenario> same = scenarios(kForComparison, options_.scenarios);
  for (Scenario& scenario : same) scenario.start = candidate.start;
  return mean_value(candidate.weights, same);
}

void Corrected::take_in(const VectorEpisode& episode) {
  const std::size_t length = episode.length(), dimension = shape_.observations.dimension();
  const std::size_t width = shape_.actions.is_discrete() ? 1 : shape_.actions.dimension();
  Columns before(dimension, length), actions(width, length);
  for (std::size_t t = 0; t < length; ++t) {
    before.set(t, episode.observations[t].coordinates());
    if (shape_.actions.is_discrete())
      actions.at(0, t) = static_cast<double>(episode.actions[t].index());
    else
      actions.set(t, episode.actions[t].coordinates());
  }
  const auto episode_number = static_cast<std::uint32_t>(num_episodes_);
  std::vector<double> action(width), expected(dimension);
  const auto add = [&](ResidualData& data, const Columns& after, const double* rewards) {
    for (std::size_t t = 0; t < length; ++t) {
      after.get(t, expected);
      actions.get(t, action);
      data.add(episode_number, episode.observations[t].coordinates(), action,
               episode.observations[t + 1].coordinates(), episode.rewards[t], expected, rewards[t]);
    }
  };
  for (std::size_t t = 0; t <= length; ++t)
    ends_.add(episode.observations[t].coordinates(), t == length && !episode.truncated);
  ends_.fit();
  const std::vector<double> zeros(before.padded(), 0.0);
  add(on_nothing_, before, zeros.data());
  if (!pair_.has_low()) return;
  Columns after = before;
  StepResults results;
  results.resize(before.padded());
  // Random numbers of its own for every step.
  std::vector<Stream> streams;
  for (std::uint32_t t = 0; t < length; ++t)
    streams.emplace_back(seed_, Purpose::low_rollout, episode_number, 0, t);
  (learnt_low_ ? learnt_low_->simulator() : pair_.shared_low())
      ->step(after, actions, streams, 1, results);
  steps_ += length;
  add(on_low_, after, results.rewards.data());
  for (std::size_t t = 0; t < length; ++t) {
    const bool ends = t + 1 == length && !episode.truncated;
    same_ends_ += ends && results.done[t] != 0 ? 1 : 0;
    cheap_ends_ += !ends && results.done[t] != 0 ? 1 : 0;
    missed_ends_ += ends && results.done[t] == 0 ? 1 : 0;
  }
}

// Errors on an episode that a model has not seen say what its intervals are worth where the next
// policy leads. Half of what the logarithm of their 95 % point is off goes into the next model, so
// that one odd episode does not decide.
void Corrected::compare_with_predictions(std::size_t first_step) {
  if (model_ == nullptr || model_->is_empty()) return;
  constexpr double kNormal95 = 1.96, kMostCaution = 5, kMostChange = 3;
  const ResidualData& data = uses_low_ ? on_low_ : on_nothing_;
  const std::size_t count = data.num_outputs(), steps = data.size();
  std::vector<std::vector<double>> ratios(count);
  double held = 0, all = 0;
  for (std::size_t t = first_step; t < steps; ++t) {
    const ResidualModel::Prediction expected = model_->predict_inputs(
        std::span(data.inputs).subspan(t * data.num_inputs(), data.num_inputs()));
    for (std::size_t k = 0; k < count; ++k) {
      if (!(expected.deviation[k] > 0) || data.seen[t * count + k] == 0) continue;
      const double ratio =
          std::abs(data.outputs[t * count + k] - expected.mean[k]) / expected.deviation[k];
      held += ratio <= kNormal95 ? 1 : 0;
      ++all;
      ratios[k].push_back(ratio);
    }
  }
  if (all > 0) held_ = held / all;
  // The first model has one episode and no idea of others.
  if (num_episodes_ < 2) return;
  for (std::size_t k = 0; k < count; ++k) {
    if (ratios[k].empty()) continue;
    const auto place = ratios[k].begin() + static_cast<std::ptrdiff_t>(ratios[k].size() * 95 / 100);
    std::ranges::nth_element(ratios[k], place);
    const double off = std::clamp(*place / kNormal95, 1 / kMostChange, kMostChange);
    caution_[k] = std::clamp(caution_[k] * std::sqrt(off), 1.0, kMostCaution);
  }
}

ResidualOptions Corrected::residual_options() const {
  ResidualOptions out;
  out.caution = caution_;
  out.frequencies = options_.frequencies;
  out.process.most_points = options_.fit_points;
  out.process.threads = static_cast<unsigned>(options_.threads);
  out.process.iterations = model_ == nullptr ? 50 : 25;
  return out;
}

// The cheap simulator is dropped where its next states are further off than no step at all, and the
// corrected one predicts episodes that were left out worse than a model without it.
void Corrected::fit() {
  const auto make = [&](const ResidualData& data, const ResidualModel* before) {
    return std::make_shared<const ResidualModel>(data, residual_options(), seed_, before);
  };
  if (!pair_.has_low()) {
    model_ = make(on_nothing_, model_.get());
    return;
  }
  const auto squares = [](const ResidualData& data, std::size_t k) {
    double sum = 0;
    for (std::size_t i = k; i < data.outputs.size(); i += data.num_outputs())
      sum += data.outputs[i] * data.outputs[i];
    return sum;
  };
  bool is_suspect = false;
  for (std::size_t k = 0; k + 1 < on_low_.num_outputs(); ++k)
    is_suspect = is_suspect || squares(on_low_, k) > squares(on_nothing_, k);
  auto with = make(on_low_, uses_low_ ? model_.get() : nullptr);
  uses_low_ = true;
  if (is_suspect && num_episodes_ >= 2) {
    auto without = make(on_nothing_, nullptr);
    if (without->held_out_error() < with->held_out_error()) {
      uses_low_ = false;
      with = without;
    }
  }
  model_ = with;
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
  if (model_ != nullptr || pair_.has_low()) gaps_.push_back(played.seen - predicted_return(played));
  if (!pair_.has_low() && num_episodes_ == 0) {
    learn_scales_from(episode);
    played.weights = newest_;
  }
  starts_.push_back(played.start);
  played_.push_back(std::move(played));
  const std::size_t first_step = on_nothing_.size();
  take_in(episode);
  compare_with_predictions(first_step);
  ++num_episodes_;
  fit();
  search();
  weigh_evidence();
  // Steps of a model without the cheap simulator, or of one that was learnt, are no steps of that.
  if (uses_low_ && !learnt_low_) report.low_steps += steps_;
  return report;
}

// Of each candidate: its value in the corrected simulator, less half of what its own episode fell
// short of the model's return for the same start. A lucky episode is no evidence for a policy, but
// one that kept less than promised is evidence against it. Policies that were not run yet bear the
// mean of what earlier promises were short of.
void Corrected::weigh_evidence() {
  const std::vector<Scenario> others =
      scenarios(kForComparison, kComparisonFactor * options_.scenarios);
  double shortfall = 0;
  const std::size_t recent = std::min(gaps_.size(), kRecent);
  for (std::size_t k = gaps_.size() - recent; k < gaps_.size(); ++k)
    shortfall += std::min(0.0, gaps_[k]) / static_cast<double>(recent + 1);

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
      consider(played_[k].weights,
               0.5 * std::min(0.0, played_[k].seen - predicted_return(played_[k])));
  }
  own_value_ = best;
}

std::vector<Fact> Corrected::findings() const {
  std::vector<Fact> out;
  if (own_value_ && std::isfinite(*own_value_)) out.push_back({"model_value", *own_value_});
  if (!gaps_.empty() && std::isfinite(gaps_.back())) out.push_back({"model_gap", gaps_.back()});
  if (model_ != nullptr && !model_->is_empty())
    out.push_back({"model_inflation", *std::ranges::max_element(model_->inflation())});
  if (num_episodes_ > 1 && model_ != nullptr && !model_->is_empty())
    out.push_back({"model_held", held_});
  if (pair_.has_low()) out.push_back({"uses_low", uses_low_ ? 1.0 : 0.0});
  return out;
}

}  // namespace hilo
