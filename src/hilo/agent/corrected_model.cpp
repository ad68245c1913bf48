#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hilo/agent/corrected.hpp"
#include "hilo/agent/detail/corrected_streams.hpp"
#include "hilo/agent/detail/learnt_simulator.hpp"
#include "hilo/core/bulk_random.hpp"
#include "hilo/core/error.hpp"
#include "hilo/model/corrected_steps.hpp"

// What the agent learns about its simulators.
namespace hilo {
namespace {

constexpr std::uint32_t kLearningRounds = 4;  // in which it is learnt
constexpr std::size_t kRandomNetworks = 8;    // that explore it at first
constexpr double kExploration = 0.3;          // noise on the actions of those
constexpr double kMoved = 0.02;  // of its range: a number that is tuned has changed by more

}  // namespace

SeenPath::SeenPath(const VectorEpisode& episode, const NetworkShape& shape)
    : rewards(episode.rewards) {
  const std::size_t length = episode.length(), dimension = shape.observations.dimension();
  const bool is_discrete = shape.actions.is_discrete();
  steps.before.resize(dimension, length);
  steps.after.resize(dimension, length);
  steps.actions.resize(is_discrete ? 1 : shape.actions.dimension(), length);
  for (std::size_t t = 0; t < length; ++t) {
    steps.before.set(t, episode.observations[t].coordinates());
    steps.after.set(t, episode.observations[t + 1].coordinates());
    if (is_discrete)
      steps.actions.at(0, t) = static_cast<double>(episode.actions[t].index());
    else
      steps.actions.set(t, episode.actions[t].coordinates());
  }
}

void SeenPath::add_residuals(std::uint32_t number, const Columns& expected,
                             const double* rewards_of, ResidualData& data) const {
  std::vector<double> from(expected.rows()), to(from), made(from), action(steps.actions.rows());
  for (std::size_t t = 0; t < rewards.size(); ++t) {
    steps.before.get(t, from);
    steps.after.get(t, to);
    steps.actions.get(t, action);
    expected.get(t, made);
    data.add(number, from, action, to, rewards[t], made, rewards_of[t]);
  }
}

std::shared_ptr<const VectorSteps> Corrected::cheap() const {
  return learnt_low_ ? learnt_low_->simulator() : low_;
}

// What the cheap simulator makes of a path, with random numbers of its own for every step.
Columns Corrected::after_low(const SeenPath& path, std::uint32_t number, std::uint32_t pair,
                             const VectorSteps& simulator, StepResults& results) const {
  Columns after = path.steps.before;
  results.resize(after.padded());
  std::vector<Stream> streams;
  for (std::uint32_t t = 0; t < after.count(); ++t)
    streams.emplace_back(seed_, Purpose::low_rollout, number, pair, t);
  if (after.count() > 0) simulator.step(after, path.steps.actions, streams, 1, results);
  return after;
}

void Corrected::take_in(const VectorEpisode& episode) {
  const SeenPath path(episode, shape_);
  const std::size_t length = episode.length();
  const auto number = static_cast<std::uint32_t>(num_episodes_);
  for (std::size_t t = 0; t <= length; ++t)
    ends_.add(episode.observations[t].coordinates(), t == length && !episode.truncated);
  ends_.fit();
  const std::vector<double> zeros(length, 0.0);
  path.add_residuals(number, path.steps.before, zeros.data(), on_nothing_);
  if (!pair_.has_low()) return;
  StepResults results;
  const Columns after = after_low(path, number, 0, *cheap(), results);
  if (!learnt_low_) steps_ += length;
  path.add_residuals(number, after, results.rewards.data(), on_low_);
  for (std::size_t t = 0; t < length; ++t) {
    const bool ends = t + 1 == length && !episode.truncated;
    same_ends_ += ends && results.done[t] != 0 ? 1 : 0;
    cheap_ends_ += !ends && results.done[t] != 0 ? 1 : 0;
    missed_ends_ += ends && results.done[t] == 0 ? 1 : 0;
  }
  if (!options_.tune.empty()) paths_.push_back(path);
}

ResidualData Corrected::residuals_of(const VectorEpisode& episode) const {
  constexpr std::uint32_t kForReports = 1;  // "pair" of the streams; what is learnt from has 0
  const SeenPath path(episode, shape_);
  StepResults results;
  const Columns after = after_low(path, round(), kForReports, *base(), results);
  ResidualData out(shape_.observations, shape_.actions, shape_.angles);
  path.add_residuals(0, after, results.rewards.data(), out);
  return out;
}

void Corrected::check_tune() const {
  if (options_.tune.empty()) return;
  if (!pair_.has_low()) throw Error(Errc::spec, "tune is for a cheap simulator, but there is none");
  const std::vector<std::string> known = low_->tunable();
  for (const TuneRange& range : options_.tune)
    if (std::ranges::find(known, range.name) == known.end())
      throw Error(Errc::spec,
                  fmt::format("tune names '{}', but the cheap simulator has {}", range.name,
                              known.empty() ? "no numbers that can be tuned"
                                            : fmt::format("{}", fmt::join(known, ", "))));
  // Before anything is paid for.
  for (const auto end : {&TuneRange::low, &TuneRange::high}) {
    std::vector<double> values;
    for (const TuneRange& range : options_.tune) values.push_back(range.*end);
    try {
      (void)low_->tuned(names_of(options_.tune), values);
    } catch (const Error& e) {
      throw Error(Errc::spec, fmt::format("tune has a range that the cheap simulator does not "
                                          "take: {}",
                                          e.what()));
    }
  }
}

// Residuals are those of the simulator with the values found. A simulator that was learnt is learnt
// again if these have changed.
void Corrected::tune_low() {
  if (options_.tune.empty()) return;
  SeenSteps all;
  std::size_t count = 0;
  for (const SeenPath& path : paths_) count += path.rewards.size();
  for (const auto member : {&SeenSteps::before, &SeenSteps::actions, &SeenSteps::after}) {
    Columns& to = all.*member;
    to.resize((paths_[0].steps.*member).rows(), count);
    std::vector<double> point(to.rows());
    std::size_t at = 0;
    for (const SeenPath& path : paths_)
      for (std::size_t t = 0; t < path.rewards.size(); ++t) {
        (path.steps.*member).get(t, point);
        to.set(at++, point);
      }
  }
  std::vector<double> start = calibration_.values;
  if (start.empty())
    for (const TuneRange& range : options_.tune) start.push_back((range.low + range.high) / 2);
  calibration_ =
      calibrate(*pair_.shared_low(), options_.tune, all, start, seed_, round(), kTuning, steps_);
  use_calibration();
  bool has_moved = learnt_with_.empty();
  for (std::size_t k = 0; k < learnt_with_.size(); ++k)
    has_moved = has_moved || std::abs(calibration_.values[k] - learnt_with_[k]) >
                                 kMoved * (options_.tune[k].high - options_.tune[k].low);
  if (learnt_low_ && has_moved) {
    learnt_low_ = std::make_unique<LearntSimulator>(low_);
    const std::vector<double> newest = newest_;  // its short searches leave others there
    learn_low();
    newest_ = newest;
    learnt_with_ = calibration_.values;
  }
  on_low_ = ResidualData(shape_.observations, shape_.actions, shape_.angles);
  for (std::uint32_t number = 0; number < paths_.size(); ++number) {
    StepResults results;
    const Columns after = after_low(paths_[number], number, 0, *cheap(), results);
    paths_[number].add_residuals(number, after, results.rewards.data(), on_low_);
    if (!learnt_low_) steps_ += paths_[number].rewards.size();
  }
}

void Corrected::use_calibration() {
  low_ = pair_.shared_low()->tuned(names_of(options_.tune), calibration_.values);
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
    std::array<std::uint8_t, kNetworks> has_ended = {};
    for (std::uint32_t t = 0; t < horizon_.max_steps; ++t) {
      network_actions(shape_, weights, states, actions);
      simulator.step(states, actions, {&scenario.stream, 1}, t + 1, results);
      count_steps(kNetworks);
      for (std::size_t i = 0; i < kNetworks; ++i) {
        if (has_ended[i] != 0) continue;
        has_ended[i] = results.done[i];
        bool is_finite = true;
        for (std::size_t d = 0; d < dimension; ++d)
          is_finite = is_finite && std::isfinite(states.at(d, i));
        if (!is_finite) {
          has_ended[i] = 1;
          continue;
        }
        ++count;
        for (std::size_t d = 0; d < dimension; ++d) {
          sums[d] += states.at(d, i);
          squares[d] += states.at(d, i) * states.at(d, i);
        }
      }
      if (std::ranges::all_of(has_ended, [](std::uint8_t ended) { return ended != 0; })) break;
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

// Networks with random weights explore it, and then policies that were found in what is known of
// it: where a policy goes, the simulator must be known well.
void Corrected::learn_low() {
  const std::uint64_t steps = steps_to_learn(options_) / kLearningRounds;
  std::vector<double> drawn(shape_.num_weights() * kRandomNetworks);
  fill_normal(Stream(seed_, Purpose::search, 0, kFirstWeights), drawn);
  std::vector<std::vector<double>> networks(kRandomNetworks);
  for (std::size_t i = 0; i < kRandomNetworks; ++i)
    networks[i].assign(drawn.begin() + static_cast<std::ptrdiff_t>(i * shape_.num_weights()),
                       drawn.begin() + static_cast<std::ptrdiff_t>((i + 1) * shape_.num_weights()));
  steps_ += kLearningRounds * std::max<std::uint64_t>(steps, 1);
  for (std::uint32_t round = 0; round < kLearningRounds; ++round) {
    learnt_low_->explore(shape_, networks, kExploration, std::max<std::uint64_t>(steps, 1),
                         horizon_.max_steps, seed_, round);
    learnt_low_->fit(residual_options(), seed_);
    if (round == 0 && num_episodes_ == 0) learn_scales_from_low();
    if (round + 1 == kLearningRounds) break;
    search_briefly();
    networks = {newest_, networks[round % networks.size()]};
  }
}

// A policy that is good enough to explore where good ones go.
void Corrected::search_briefly() {
  constexpr std::size_t kFewer = 3;
  std::vector<Scenario> fixed =
      scenarios(kForSearch, std::max<std::size_t>(num_scenarios() / kFewer, 1));
  for (Scenario& scenario : fixed) {
    scenario.simulator = cheap();
    scenario.correction = Correction();
  }
  const SearchResult found =
      search_policy(shape_, std::vector<double>(shape_.num_weights(), 0.0), fixed, horizon_,
                    {.generations = std::max<std::uint32_t>(options_.generations / kFewer, 1),
                     .population = options_.population,
                     .sigma = kFarStep,
                     .threads = options_.threads},
                    seed_, round(), kFirstSearch - 1);
  newest_ = found.weights;
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

}  // namespace hilo
