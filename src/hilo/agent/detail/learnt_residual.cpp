#include "hilo/agent/detail/learnt_residual.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/agent/corrected.hpp"
#include "hilo/agent/detail/residual_archive.hpp"

namespace hilo {
namespace {

constexpr std::uint32_t kStreamPair = 1;  // free paths have 0

ResidualOptions options() {
  ResidualOptions out;
  out.process.most_points = 250;
  out.process.threads = 1;
  return out;
}

// The steps from `first` on.
ResidualData tail_of(const ResidualData& data, std::size_t first) {
  ResidualData out(data.states, data.actions, data.angles);
  const auto from = [](const auto& list, std::size_t at) {
    return std::vector(list.begin() + static_cast<std::ptrdiff_t>(at), list.end());
  };
  out.inputs = from(data.inputs, first * data.num_inputs());
  out.outputs = from(data.outputs, first * data.num_outputs());
  out.seen = from(data.seen, first * data.num_outputs());
  out.episodes = from(data.episodes, first);
  return out;
}

}  // namespace

LearntResidual::LearntResidual(NetworkShape shape, std::shared_ptr<const VectorSteps> low,
                               std::uint64_t seed)
    : shape_(std::move(shape)),
      low_(std::move(low)),
      seed_(seed),
      newest_(shape_.observations, shape_.actions, shape_.angles),
      fitted_(newest_) {}

std::uint64_t LearntResidual::add(const std::vector<VectorEpisode>& batch,
                                  std::uint32_t first_number) {
  std::uint64_t steps = 0;
  for (std::uint32_t k = 0; k < batch.size(); ++k) {
    const SeenPath path(batch[k], shape_);
    Columns after = path.steps.before;
    std::vector<Stream> streams;
    for (std::uint32_t t = 0; t < after.count(); ++t)
      streams.emplace_back(seed_, Purpose::low_rollout, first_number + k, kStreamPair, t);
    StepResults results;
    results.resize(after.padded());
    low_->step(after, path.steps.actions, streams, 1, results);
    steps += after.count();
    path.add_residuals(first_number + k, after, results.rewards.data(), newest_);
  }
  forget_old();
  if (++num_batches_ < next_fit_ || newest_.size() == 0) return steps;
  next_fit_ = num_batches_ + std::max<std::uint64_t>(1, num_batches_ / 3);
  fitted_ = newest_;
  model_ = std::make_shared<const ResidualModel>(fitted_, options(), seed_, model_.get());
  return steps;
}

// Whole episodes, and at least one of them.
void LearntResidual::forget_old() {
  std::size_t first = newest_.size() > kMostSteps ? newest_.size() - kMostSteps : 0;
  if (first == 0) return;
  while (first < newest_.size() && newest_.episodes[first] == newest_.episodes[first - 1]) ++first;
  if (first < newest_.size()) newest_ = tail_of(newest_, first);
}

Correction LearntResidual::correction() const {
  if (model_ == nullptr) return {};
  return {model_, model_->mean()};
}

void LearntResidual::save(ArchiveWriter& out) const {
  out.value(num_batches_);
  out.value(next_fit_);
  save_data(out, newest_);
  save_data(out, fitted_);
  out.value(model_ != nullptr);
  if (model_ != nullptr) save_scales(out, model_->scales());
}

void LearntResidual::load(ArchiveReader& in) {
  const auto batches = in.value<std::uint64_t>(), next = in.value<std::uint64_t>();
  if (next > 2 * batches + 1) ArchiveReader::mismatch("number of batches");
  ResidualData newest = load_data(in, newest_), fitted = load_data(in, fitted_);
  std::shared_ptr<const ResidualModel> model;
  if (in.flag("model"))
    model = std::make_shared<const ResidualModel>(fitted, options(), seed_, load_scales(in));
  num_batches_ = batches;
  next_fit_ = next;
  newest_ = std::move(newest);
  fitted_ = std::move(fitted);
  model_ = std::move(model);
}

}  // namespace hilo
