#include <algorithm>
#include <cmath>

#include "hilo/agent/detail/learnt_residual.hpp"
#include "hilo/agent/policy_gradient.hpp"
#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"

// How the agent is saved, in the middle of a batch too.
namespace hilo {
namespace {

constexpr const char* kTag = "policy gradient";

void require_finite(const std::vector<double>& values, const char* what) {
  if (!std::ranges::all_of(values, [](double x) { return std::isfinite(x); }))
    ArchiveReader::mismatch(what);
}

std::vector<double> read_weights(ArchiveReader& in, std::size_t size, const char* what) {
  std::vector<double> out(size);
  in.array<double>(what, std::span(out));
  require_finite(out, what);
  return out;
}

void save_points(ArchiveWriter& out, const Points& points) {
  out.array<std::uint64_t>(points.indices());
  out.array<double>(points.coordinates());
}

// Exactly `count` points of the space.
void load_points(ArchiveReader& in, const Space& space, std::size_t count, Points& points) {
  const auto indices = in.list<std::uint64_t>("episode", kAnyLength);
  const auto coordinates = in.list<double>("episode", kAnyLength);
  require_finite(coordinates, "episode");
  const std::size_t dimension = space.dimension();
  if (indices.size() != (space.is_discrete() ? count : 0) ||
      coordinates.size() != count * dimension ||
      std::ranges::any_of(indices, [&](std::uint64_t i) { return i >= space.size(); }))
    ArchiveReader::mismatch("episode");
  for (const std::uint64_t index : indices) points.push_back(index);
  for (std::size_t t = 0; dimension > 0 && t < count; ++t)
    points.push_back(std::span(coordinates).subspan(t * dimension, dimension));
  for (std::size_t t = 0; t < count; ++t)
    if (!space.contains(points[t])) ArchiveReader::mismatch("episode");
}

}  // namespace

std::vector<std::byte> PolicyGradient::save() const {
  ArchiveWriter out(kTag, kArchiveVersion);
  out.value(seed_);
  out.value(static_cast<std::uint64_t>(weights_.size()));
  out.value(options_.batch);
  out.value(num_episodes_);
  out.value(cut_at_);
  out.value(is_prepared_);
  out.value(static_cast<std::uint8_t>(starts_));
  out.array<double>(shape_.centre);
  out.array<double>(shape_.scale);
  out.array<double>(weights_);
  out.array<double>(adam_.mean);
  out.array<double>(adam_.square);
  out.value(adam_.mean_weight);
  out.value(adam_.square_weight);
  out.value(moments_.state());
  high_baseline_.save(out);
  low_baseline_.save(out);
  if (residual_) residual_->save(out);
  out.value(coefficient_);
  out.value(low_limit_);
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const VectorEpisode& episode = seen_[i];
    out.value(number_of(i));
    out.array<double>(episode.rewards);
    save_points(out, episode.observations);
    save_points(out, episode.actions);
    out.value(episode.truncated);
  }
  return out.finish();
}

void PolicyGradient::load(std::span<const std::byte> bytes) {
  ArchiveReader in(bytes, kTag, kArchiveVersion);
  in.expect("seed", seed_);
  const std::size_t size = weights_.size();
  in.expect("number of weights", static_cast<std::uint64_t>(size));
  in.expect("batch", options_.batch);
  const auto num_episodes = in.value<std::uint64_t>();
  const auto cut_at = in.value<std::uint32_t>();
  const bool is_prepared = in.flag("preparation");
  const auto starts = in.value<std::uint8_t>();
  if (starts > static_cast<std::uint8_t>(Starts::seen)) ArchiveReader::mismatch("kind of starts");
  NetworkShape shape = shape_;
  in.array<double>("observations", std::span(shape.centre));
  in.array<double>("observations", std::span(shape.scale));
  try {
    shape.check();
  } catch (const Error&) {
    ArchiveReader::mismatch("scale of observations");
  }
  std::vector<double> weights = read_weights(in, size, "weights");
  Adam adam(size);
  adam.mean = read_weights(in, size, "step");
  adam.square = read_weights(in, size, "step");
  adam.mean_weight = in.value<double>();
  adam.square_weight = in.value<double>();
  const auto in_unit = [](double x) { return x >= 0 && x <= 1; };
  if (!in_unit(adam.mean_weight) || !in_unit(adam.square_weight) ||
      !std::ranges::all_of(adam.square, [](double x) { return x >= 0; }))
    ArchiveReader::mismatch("step");
  const auto moments = in.value<GradientMoments::State>();
  for (const double sum :
       {moments.high, moments.low, moments.freedom, moments.cross_squares, moments.low_squares})
    if (!(sum >= 0)) ArchiveReader::mismatch("set of moments");
  ReturnBaseline high_baseline(shape, horizon_.max_steps), low_baseline = high_baseline;
  high_baseline.load(in);
  low_baseline.load(in);
  std::unique_ptr<LearntResidual> residual;
  if (is_prepared && options_.control == GradientControl::corrected) {
    residual = std::make_unique<LearntResidual>(shape, pair_.shared_low(), seed_);
    residual->load(in);
  }
  const auto coefficient = in.value<double>();
  if (!std::isfinite(coefficient)) ArchiveReader::mismatch("coefficient");
  const auto low_limit = in.value<double>();
  if (!(low_limit >= 0) || !std::isfinite(low_limit)) ArchiveReader::mismatch("limit of returns");
  std::vector<VectorEpisode> seen;
  for (std::uint64_t k = 0; k < num_episodes % options_.batch; ++k) {
    VectorEpisode episode(pair_.high());
    episode.number = in.value<std::uint32_t>();
    episode.rewards = in.list<double>("episode", kMaxSteps);
    require_finite(episode.rewards, "episode");
    if (episode.length() == 0) ArchiveReader::mismatch("episode");
    load_points(in, shape_.observations, episode.length() + 1, episode.observations);
    load_points(in, shape_.actions, episode.length(), episode.actions);
    episode.truncated = in.flag("episode");
    seen.push_back(std::move(episode));
  }
  in.finish();
  num_episodes_ = num_episodes;
  cut_at_ = 0;
  use_cut(cut_at);
  is_prepared_ = is_prepared;
  starts_ = static_cast<Starts>(starts);
  shape_ = std::move(shape);
  weights_ = std::move(weights);
  adam_ = std::move(adam);
  moments_.restore(moments);
  high_baseline_ = std::move(high_baseline);
  low_baseline_ = std::move(low_baseline);
  residual_ = std::move(residual);
  coefficient_ = coefficient;
  low_limit_ = low_limit;
  seen_ = std::move(seen);
}

}  // namespace hilo
