#include "hilo/agent/policy_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/agent/corrected.hpp"
#include "hilo/agent/detail/learnt_residual.hpp"
#include "hilo/core/bulk_random.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/moments.hpp"
#include "hilo/model/corrected_steps.hpp"
#include "hilo/policy/network_file.hpp"
#include "hilo/policy/network_gradient.hpp"
#include "hilo/policy/policy_score.hpp"
#include "hilo/policy/softmax_policy.hpp"

namespace hilo {
namespace {

constexpr std::uint32_t kFirstWeights = 4;    // "pair" of the stream of purpose search
constexpr std::size_t kPathsForScales = 64;   // cheap paths before the first episode
constexpr std::size_t kMostSteps = 1U << 17;  // that free paths have in memory at the same time
constexpr std::size_t kFewestPaths = 8;       // that advance together

// Coordinates with bounds are scaled by them; nothing is known about the others beforehand.
NetworkShape shape_of(const VectorFidelities& pair, const std::vector<std::size_t>& layers) {
  const Space& space = pair.high().observation_space();
  NetworkShape out{.observations = space,
                   .actions = pair.high().action_space(),
                   .angles = pair.angles(),
                   .centre = std::vector<double>(space.dimension(), 0.0),
                   .scale = std::vector<double>(space.dimension(), 1.0),
                   .layers = layers};
  for (std::size_t d = 0; d < space.dimension(); ++d)
    if (std::isfinite(space.low()[d]) && std::isfinite(space.high()[d])) {
      out.centre[d] = (space.low()[d] + space.high()[d]) / 2;
      out.scale[d] = std::max((space.high()[d] - space.low()[d]) / 2, 1e-6);
    }
  out.check();
  return out;
}

// Normal, with a variance of 1 / inputs, as usual; those of the last layer a tenth of that, so that
// actions begin in the middle of their box.
std::vector<double> random_weights(const NetworkShape& shape, std::uint64_t seed) {
  std::vector<double> out(shape.num_weights());
  fill_normal(Stream(seed, Purpose::search, 0, kFirstWeights), out);
  std::size_t at = 0, inputs = shape.num_inputs();
  for (std::size_t l = 0; l <= shape.layers.size(); ++l) {
    const bool is_last = l == shape.layers.size();
    const std::size_t units = is_last ? shape.num_outputs() : shape.layers[l];
    const double scale = (is_last ? 0.1 : 1.0) / std::sqrt(static_cast<double>(inputs));
    for (std::size_t u = 0; u < units; ++u)
      for (std::size_t j = 0; j <= inputs; ++j, ++at) out[at] *= j < inputs ? scale : 0;
    inputs = units;
  }
  return out;
}

std::vector<double> less(std::vector<double> returns, const std::vector<double>& baseline) {
  for (std::size_t t = 0; t < returns.size(); ++t) returns[t] -= baseline[t];
  return returns;
}

// The score of every step times what is pulled with: gamma^t times its advantage.
Columns pulls(const NetworkShape& shape, double noise, const Columns& outputs,
              const PathBatch& paths, std::span<const double> advantages, double gamma) {
  Columns out(outputs.rows(), outputs.count());
  policy_score(shape, noise, outputs, paths.actions, out);
  for (std::size_t k = 0; k < paths.size(); ++k) {
    double discount = 1;
    for (std::size_t t = paths.first[k]; t < paths.first[k + 1]; ++t) {
      for (std::size_t u = 0; u < out.rows(); ++u) out.at(u, t) *= discount * advantages[t];
      discount *= gamma;
    }
  }
  return out;
}

}  // namespace

std::vector<double> path_gradients(const NetworkShape& shape, std::span<const double> weights,
                                   double noise, const PathBatch& paths,
                                   std::span<const double> advantages, double gamma) {
  std::vector<double> out(weights.size() * paths.size(), 0.0);
  const NetworkBatch batch(shape, weights, paths.observations);
  const Columns pull = pulls(shape, noise, batch.outputs(), paths, advantages, gamma);
  for (std::size_t k = 0; k < paths.size(); ++k)
    batch.add_gradient(pull, paths.first[k], paths.length(k),
                       std::span(out).subspan(k * weights.size(), weights.size()));
  return out;
}

std::vector<double> sum_of_gradients(const NetworkShape& shape, std::span<const double> weights,
                                     double noise, const PathBatch& paths,
                                     std::span<const double> advantages, double gamma) {
  std::vector<double> out(weights.size(), 0.0);
  const NetworkBatch batch(shape, weights, paths.observations);
  batch.add_gradient(pulls(shape, noise, batch.outputs(), paths, advantages, gamma), out);
  return out;
}

PolicyGradient::PolicyGradient(VectorFidelities pair, GradientOptions options, std::uint64_t seed)
    : pair_(std::move(pair)),
      options_(std::move(options)),
      seed_(seed),
      horizon_{.gamma = options_.gamma,
               .max_steps = std::min(options_.max_steps, pair_.high().time_limit())},
      low_horizon_(horizon_),
      shape_(shape_of(pair_, options_.layers)),
      weights_(random_weights(shape_, seed)),
      adam_(weights_.size()),
      high_baseline_(shape_, horizon_.max_steps),
      low_baseline_(shape_, horizon_.max_steps) {
  if ((has_control() || options_.starts_at_low_optimum) && !pair_.has_low())
    throw Error(Errc::spec, "this policy gradient needs a cheap simulator, but there is none");
  if (options_.batch < 2 || options_.low_rollouts < 1)
    throw Error(Errc::spec,
                "a policy gradient needs batches of at least two episodes, and at "
                "least one free cheap path for each of them");
  constexpr double kMostNumbers = 1e8;  // a gradient for each episode
  const double numbers = static_cast<double>(options_.batch) * static_cast<double>(weights_.size());
  if (numbers > kMostNumbers)
    throw Error(Errc::spec,
                fmt::format("a batch of {} episodes with {} weights of the policy needs {} numbers "
                            "at the same time, but at most {} are allowed",
                            options_.batch, weights_.size(), numbers, kMostNumbers));
}
PolicyGradient::~PolicyGradient() = default;

std::unique_ptr<const Policy> PolicyGradient::policy() const {
  if (shape_.actions.is_discrete()) return std::make_unique<const SoftmaxPolicy>(shape_, weights_);
  return std::make_unique<const NetworkPolicy>(shape_, weights_, options_.noise);
}
std::unique_ptr<const Policy> PolicyGradient::greedy_policy() const {
  return std::make_unique<const NetworkPolicy>(shape_, weights_);
}
PolicyArtifact PolicyGradient::artifact() const { return network_artifact(shape_, weights_); }

std::shared_ptr<const VectorSteps> PolicyGradient::cheap() const {
  return std::make_shared<const CorrectedSteps>(pair_.shared_low(),
                                                residual_ ? residual_->correction() : Correction());
}

PathBatch PolicyGradient::cheap_paths(const Columns& starts, const std::vector<Stream>& streams) {
  return run_paths(*cheap(), *policy(), starts, streams, low_horizon_, steps_);
}

// What is known before the first episode: a policy, if it begins at the cheap optimum, and how far
// states reach and what can be earned in the cheap simulator.
LearnReport PolicyGradient::prepare() {
  if (is_prepared_) return {};
  is_prepared_ = true;
  steps_ = 0;
  LearnReport report;
  if (options_.starts_at_low_optimum) {
    Corrected search(pair_,
                     {.layers = options_.layers,
                      .low_steps = options_.low_steps,
                      .gamma = options_.gamma,
                      .max_steps = options_.max_steps,
                      .threads = options_.threads,
                      .corrects = false},
                     seed_);
    report.low_steps += search.prepare().low_steps;
    const auto found = search.greedy_policy();
    const auto& optimum = dynamic_cast<const NetworkPolicy&>(*found);
    shape_ = optimum.shape();
    weights_.assign(optimum.weights().begin(), optimum.weights().end());
  }
  if (has_control()) {
    Columns starts(shape_.observations.dimension(), kPathsForScales);
    const StreamAddress address{.seed = seed_, .purpose = Purpose::preparation};
    pair_.draw_starts(address, starts);
    std::vector<Stream> streams;
    for (std::uint32_t i = 0; i < kPathsForScales; ++i) streams.push_back(address.stream(0, i));
    const PathBatch paths = cheap_paths(starts, streams);
    if (!options_.starts_at_low_optimum) learn_scales(paths);
    widen_low_limit(paths);
  }
  // Both begin empty: returns of the cheap simulator may be anything, and what is subtracted on one
  // side alone would make the two differ.
  high_baseline_ = low_baseline_ = ReturnBaseline(shape_, horizon_.max_steps);
  Columns one(shape_.observations.dimension(), 1);
  if (pair_.high().draw_starts({.seed = seed_, .purpose = Purpose::preparation}, one))
    starts_ = Starts::of_high;
  if (options_.control == GradientControl::corrected)
    residual_ = std::make_unique<LearntResidual>(shape_, pair_.shared_low(), seed_);
  report.low_steps += steps_;
  return report;
}

// Of coordinates without bounds.
void PolicyGradient::learn_scales(const PathBatch& paths) {
  for (std::size_t d = 0; d < shape_.observations.dimension(); ++d) {
    const bool is_bounded =
        std::isfinite(shape_.observations.low()[d]) && std::isfinite(shape_.observations.high()[d]);
    if (is_bounded || paths.num_steps() == 0) continue;
    Moments seen;
    for (std::size_t t = 0; t < paths.num_steps(); ++t) seen.add(paths.observations.at(d, t));
    const double deviation = std::sqrt(seen.variance());
    if (!(deviation > 1e-9) || !std::isfinite(deviation)) continue;
    shape_.scale[d] = deviation;
    if (std::abs(seen.mean()) > 0.5 * deviation) shape_.centre[d] = seen.mean();
  }
}

LearnReport PolicyGradient::learn(const VectorEpisode& episode) {
  LearnReport report = prepare();
  steps_ = 0;
  if (episode.length() == 0)
    throw Error(Errc::simulator, "an episode without a step teaches nothing");
  seen_.push_back(episode);
  ++num_episodes_;
  if (has_control() && moments_.state().freedom > 0) {
    // Those of the batch that the episode belongs to.
    report.variance_ratio = moments_.variance_ratio(next_coefficient(), options_.low_rollouts);
    report.correlation_sum = moments_.rho();
    report.corrected = 1;
  }
  if (seen_.size() == options_.batch) update();
  report.low_steps += steps_;
  return report;
}

double PolicyGradient::next_coefficient() const {
  return options_.coefficient.value_or(moments_.coefficient(options_.low_rollouts));
}

void PolicyGradient::update() {
  const PathBatch high = as_paths(seen_, shape_.observations, shape_.actions);
  const std::vector<double> high_returns = returns_to_go(high, horizon_.gamma);
  GradientPairs batch{
      .dimension = weights_.size(),
      .high = path_gradients(shape_, weights_, options_.noise, high,
                             less(high_returns, high_baseline_.at(high)), horizon_.gamma),
      .low = {}};
  last_plain_ = batch.mean_high();
  last_gradient_ = last_plain_;
  coefficient_ = 0;
  if (has_control()) {
    const std::vector<Stream> streams = paired_streams();
    const Columns starts = paired_starts();
    const PathBatch low = cheap_paths(starts, streams);
    const std::vector<double> returns = low_returns(low);
    batch.low = path_gradients(shape_, weights_, options_.noise, low,
                               less(returns, low_baseline_.at(low)), horizon_.gamma);
    coefficient_ = next_coefficient();
    if (coefficient_ != 0)
      last_gradient_ = controlled_gradient(batch, coefficient_, mean_of_free_paths(starts));
    // From here on all is for the batches to come. Without a baseline gradients are far larger than
    // they will ever be again.
    if (high_baseline_.is_fitted()) moments_.add(batch);
    low_baseline_.add(low, returns);
    widen_low_limit(low);
    if (residual_) steps_ += residual_->add(seen_, batch_number() * options_.batch);
  }
  high_baseline_.add(high, high_returns);
  adam_.climb(last_gradient_, options_.step_size, weights_);
  for (const VectorEpisode& episode : seen_)
    if (episode.truncated) use_cut(static_cast<std::uint32_t>(episode.length()));
  seen_.clear();
}

void PolicyGradient::use_cut(std::uint32_t length) {
  cut_at_ = std::max(cut_at_, length);
  low_horizon_.max_steps = cut_at_ > 0 ? std::min(horizon_.max_steps, cut_at_) : horizon_.max_steps;
}

// A cheap simulator may explode where no expensive episode leads, and one such path would drown all
// others. So returns of its paths, paired and free ones alike, end at a limit that earlier paths
// have set: a function of the path, which brings no bias.
std::vector<double> PolicyGradient::low_returns(const PathBatch& paths) const {
  std::vector<double> out = returns_to_go(paths, horizon_.gamma);
  for (double& x : out) x = std::isnan(x) ? 0 : std::clamp(x, -low_limit_, low_limit_);
  return out;
}

void PolicyGradient::widen_low_limit(const PathBatch& paths) {
  constexpr double kFurther = 5, kMost = 1e100;  // whose squares are finite
  for (const double x : returns_to_go(paths, horizon_.gamma))
    if (std::isfinite(x))
      low_limit_ = std::max(low_limit_, std::min(kFurther * std::abs(x), kMost));
}

// The random words of the batch's expensive episodes.
std::vector<Stream> PolicyGradient::paired_streams() const {
  std::vector<Stream> out;
  for (std::size_t i = 0; i < seen_.size(); ++i)
    out.emplace_back(seed_, Purpose::high_episode, number_of(i));
  return out;
}

// Episodes that were skipped have numbers, too.
std::uint32_t PolicyGradient::number_of(std::size_t i) const {
  return seen_[i].number.value_or(static_cast<std::uint32_t>(num_episodes_ - seen_.size() + i));
}

// Where cheap paths begin that are paired with expensive episodes: where these began. If the
// expensive simulator cannot say where it may begin, the cheap simulator's own start states take
// their place, provided that they are the same ones (as for two Gymnasium environments that were
// given the same seed). The first batch decides, which has no coefficient yet.
Columns PolicyGradient::paired_starts() {
  Columns seen(shape_.observations.dimension(), seen_.size());
  for (std::size_t i = 0; i < seen_.size(); ++i)
    seen.set(i, seen_[i].observations[0].coordinates());
  if (starts_ == Starts::of_high || (starts_ == Starts::seen && batch_number() > 0)) return seen;
  Columns own(seen.rows(), seen.count()), one(seen.rows(), 1);
  std::vector<double> point(seen.rows());
  bool are_equal = true;
  for (std::size_t i = 0; i < seen.count(); ++i) {
    pair_.shared_low()->start(
        {.seed = seed_, .purpose = Purpose::high_episode, .episode = number_of(i)}, one);
    one.get(0, point);
    own.set(i, point);
    for (std::size_t d = 0; d < point.size(); ++d)
      are_equal = are_equal && point[d] == seen.at(d, i);
  }
  if (batch_number() == 0) starts_ = are_equal ? Starts::of_low : Starts::seen;
  return starts_ == Starts::of_low ? own : seen;
}

// Start states of free paths number first, first + 1, ..., with the distribution that those of the
// paired ones have.
void PolicyGradient::draw_free_starts(const StreamAddress& address, std::size_t first,
                                      const Columns& paired, Columns& starts) const {
  StreamAddress own = address;
  own.first_rollout += static_cast<std::uint32_t>(first);
  if (starts_ == Starts::of_high) {
    pair_.high().draw_starts(own, starts);
  } else if (starts_ == Starts::of_low) {
    pair_.shared_low()->start(own, starts);
  } else {
    std::vector<double> point(starts.rows());
    for (std::size_t i = 0; i < starts.count(); ++i) {
      paired.get((first + i) % paired.count(), point);
      starts.set(i, point);
    }
  }
}

// The mean gradient of free cheap paths, in groups that fit into memory.
std::vector<double> PolicyGradient::mean_of_free_paths(const Columns& paired) {
  const StreamAddress address{
      .seed = seed_, .purpose = Purpose::low_rollout, .episode = batch_number()};
  const std::size_t count = std::size_t{options_.low_rollouts} * options_.batch;
  const std::size_t group = std::max(kFewestPaths, kMostSteps / low_horizon_.max_steps);
  std::vector<double> mean(weights_.size(), 0.0);
  for (std::size_t first = 0; first < count; first += group) {
    Columns starts(paired.rows(), std::min(group, count - first));
    draw_free_starts(address, first, paired, starts);
    std::vector<Stream> streams;
    for (std::size_t i = 0; i < starts.count(); ++i)
      streams.push_back(address.stream(0, static_cast<std::uint32_t>(first + i)));
    const PathBatch paths = cheap_paths(starts, streams);
    const std::vector<double> sum =
        sum_of_gradients(shape_, weights_, options_.noise, paths,
                         less(low_returns(paths), low_baseline_.at(paths)), horizon_.gamma);
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += sum[k] / static_cast<double>(count);
  }
  return mean;
}

std::vector<std::string> PolicyGradient::remarks() const {
  if (num_episodes_ < options_.batch)
    return {fmt::format("the policy was not changed: {} episodes are less than a batch of {}",
                        num_episodes_, options_.batch)};
  if (has_control() && next_coefficient() == 0)
    return {
        "the cheap simulator's gradient is not used: it is not known to make that of the "
        "expensive one more precise"};
  return {};
}

std::vector<Fact> PolicyGradient::findings() const {
  if (!has_control() || num_episodes_ < options_.batch) return {};
  return {{"gradient_rho", moments_.rho()},
          {"gradient_weight", coefficient_},
          {"draws_starts", starts_ == Starts::seen ? 0.0 : 1.0}};
}

}  // namespace hilo
