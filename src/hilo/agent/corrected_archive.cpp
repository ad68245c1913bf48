#include <algorithm>
#include <array>
#include <cmath>

#include "hilo/agent/corrected.hpp"
#include "hilo/agent/detail/learnt_simulator.hpp"
#include "hilo/agent/detail/residual_archive.hpp"
#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"

// How the agent is saved.
namespace hilo {
namespace {

void save_path(ArchiveWriter& out, const SeenPath& path) {
  out.array<double>(path.rewards);
  for (const Columns* columns : {&path.steps.before, &path.steps.actions, &path.steps.after})
    for (std::size_t d = 0; d < columns->rows(); ++d)
      out.array<double>(std::span(columns->row(d), columns->count()));
}

SeenPath load_path(ArchiveReader& in, const NetworkShape& shape) {
  SeenPath path;
  path.rewards = in.list<double>("path", kMaxSteps);
  if (!std::ranges::all_of(path.rewards, [](double x) { return std::isfinite(x); }))
    ArchiveReader::mismatch("path");
  const std::size_t length = path.rewards.size(), dimension = shape.observations.dimension();
  path.steps.before.resize(dimension, length);
  path.steps.actions.resize(shape.actions.is_discrete() ? 1 : shape.actions.dimension(), length);
  path.steps.after.resize(dimension, length);
  for (Columns* columns : {&path.steps.before, &path.steps.actions, &path.steps.after})
    for (std::size_t d = 0; d < columns->rows(); ++d) {
      const std::span<double> row(columns->row(d), length);
      in.array<double>("path", row);
      if (!std::ranges::all_of(row, [](double x) { return std::isfinite(x); }))
        ArchiveReader::mismatch("path");
    }
  return path;
}

void save_ends(ArchiveWriter& out, const EndLimits& ends) {
  for (const auto* list : {&ends.least(), &ends.most(), &ends.ended()}) out.array<double>(*list);
}

EndLimits load_ends(ArchiveReader& in, std::size_t dimension) {
  std::vector<double> least(dimension), most(dimension);
  in.array<double>("limits of episodes", least);
  in.array<double>("limits of episodes", most);
  return EndLimits::from(std::move(least), std::move(most),
                         in.list<double>("limits of episodes", kAnyLength));
}

}  // namespace

std::vector<std::byte> Corrected::save() const {
  ArchiveWriter out("corrected", kArchiveVersion);
  out.value(seed_);
  out.value(static_cast<std::uint64_t>(shape_.num_weights()));
  out.array<double>(shape_.centre);
  out.array<double>(shape_.scale);
  out.value(num_episodes_);
  out.value(cut_at_);
  out.value(is_prepared_);
  out.value(uses_low_);
  save_data(out, on_low_);
  save_data(out, on_nothing_);
  out.value(model_ != nullptr);
  save_scales(out, model_ != nullptr ? model_->scales() : ProcessScales());
  out.array<double>(calibration_.values);
  out.array<double>(calibration_.deviations);
  out.array<double>(learnt_with_);
  for (const SeenPath& path : paths_) save_path(out, path);
  out.array<double>(caution_);
  out.value(held_);
  save_ends(out, ends_);
  for (const std::uint64_t count : {same_ends_, cheap_ends_, missed_ends_}) out.value(count);
  const bool is_learnt = learnt_low_ && learnt_low_->model() != nullptr;
  out.value(is_learnt);
  if (is_learnt) {
    save_data(out, learnt_low_->data());
    save_ends(out, learnt_low_->ends());
    save_scales(out, learnt_low_->model()->scales());
  }
  for (const auto* weights : {&cheap_optimum_, &newest_, &best_}) out.array<double>(*weights);
  out.value(static_cast<std::uint64_t>(played_.size()));
  for (const Candidate& candidate : played_) {
    out.array<double>(candidate.weights);
    out.array<double>(candidate.start);
    out.value(candidate.seen);
  }
  out.array<double>(gaps_);
  out.array<double>(shortfalls_);
  out.value(own_value_.has_value());
  out.value(own_value_.value_or(0));
  return out.finish();
}

void Corrected::load(std::span<const std::byte> bytes) {
  ArchiveReader in(bytes, "corrected", kArchiveVersion);
  in.expect("seed", seed_);
  const std::size_t num_weights = shape_.num_weights(), dimension = shape_.centre.size();
  in.expect("number of weights", static_cast<std::uint64_t>(num_weights));
  NetworkShape shape = shape_;
  in.array<double>("observations", shape.centre);
  in.array<double>("observations", shape.scale);
  try {
    shape.check();
  } catch (const Error&) {
    ArchiveReader::mismatch("scale of observations");
  }
  const auto num_episodes = in.value<std::uint64_t>();
  const auto cut_at = in.value<std::uint32_t>();
  const bool is_prepared = in.flag("preparation");
  const bool uses_low = in.flag("cheap simulator");
  if (uses_low && !pair_.has_low()) ArchiveReader::mismatch("cheap simulator");
  ResidualData on_low = load_data(in, on_low_), on_nothing = load_data(in, on_nothing_);
  const bool has_model = in.flag("model");
  const ProcessScales scales = load_scales(in);
  Calibration calibration{
      .values = in.list<double>("values that were tuned", options_.tune.size()),
      .deviations = in.list<double>("values that were tuned", options_.tune.size())};
  std::vector<double> learnt_with = in.list<double>("values that were tuned", options_.tune.size());
  std::vector<SeenPath> paths;  // one after the other: the number may be anything
  while (!options_.tune.empty() && paths.size() < num_episodes)
    paths.push_back(load_path(in, shape_));
  if (calibration.values.size() != (num_episodes > 0 ? options_.tune.size() : 0) ||
      calibration.deviations.size() != calibration.values.size() ||
      (!learnt_with.empty() && learnt_with.size() != options_.tune.size()))
    ArchiveReader::mismatch("set of values that were tuned");
  std::vector<double> caution(caution_.size());
  in.array<double>("caution", caution);
  const auto held = in.value<double>();
  if (!std::ranges::all_of(caution, [](double x) { return x >= 1 && x <= 100; }) ||
      !(held >= 0 && held <= 1))
    ArchiveReader::mismatch("caution of the model");
  EndLimits ends = load_ends(in, dimension);
  std::array<std::uint64_t, 3> end_counts = {};
  for (std::uint64_t& end_count : end_counts) end_count = in.value<std::uint64_t>();
  if (in.flag("learnt simulator") != (learnt_low_ && is_prepared))
    ArchiveReader::mismatch("learnt simulator");
  std::unique_ptr<LearntSimulator> learnt_low;
  std::shared_ptr<const VectorSteps> low = pair_.shared_low();
  if (!calibration.values.empty()) low = low->tuned(names_of(options_.tune), calibration.values);
  if (learnt_low_) learnt_low = std::make_unique<LearntSimulator>(low);
  if (learnt_low_ && is_prepared) {
    ResidualData steps = load_data(in, on_low_);
    EndLimits its_ends = load_ends(in, dimension);
    learnt_low->restore(std::move(steps), std::move(its_ends), load_scales(in), residual_options(),
                        seed_);
  }
  const auto weights = [&] {
    std::vector<double> out(num_weights);
    in.array<double>("weights", out);
    if (!std::ranges::all_of(out, [](double x) { return std::isfinite(x); }))
      ArchiveReader::mismatch("set of weights");
    return out;
  };
  std::vector<double> cheap_optimum = weights(), newest = weights(), best = weights();
  std::vector<Candidate> played;
  const auto count = in.value<std::uint64_t>();
  if (count > num_episodes) ArchiveReader::mismatch("number of policies");
  for (std::uint64_t i = 0; i < count; ++i) {
    Candidate candidate{.weights = weights(), .start = std::vector<double>(dimension)};
    in.array<double>("start", candidate.start);
    candidate.seen = in.value<double>();
    played.push_back(std::move(candidate));
  }
  std::vector<double> gaps = in.list<double>("gaps", num_episodes);
  std::vector<double> shortfalls = in.list<double>("gaps", num_episodes);
  const bool has_own = in.flag("own value");
  const auto own = in.value<double>();
  in.finish();
  const auto count_of = [](const ResidualData& data) -> std::uint64_t {
    return data.episodes.empty() ? 0 : data.episodes.back() + std::uint64_t{1};
  };
  if (options_.corrects && (count_of(on_nothing) != num_episodes || played.size() != num_episodes ||
                            (pair_.has_low() && count_of(on_low) != num_episodes)))
    ArchiveReader::mismatch("number of episodes");
  std::shared_ptr<const ResidualModel> model;
  ResidualOptions options = residual_options();
  options.caution = caution;
  if (has_model)
    model = std::make_shared<const ResidualModel>(uses_low ? on_low : on_nothing, options, seed_,
                                                  scales);
  shape_ = std::move(shape);
  num_episodes_ = num_episodes;
  cut_at_ = 0;
  use_cut(cut_at);
  is_prepared_ = is_prepared;
  uses_low_ = uses_low;
  on_low_ = std::move(on_low);
  on_nothing_ = std::move(on_nothing);
  model_ = std::move(model);
  caution_ = std::move(caution);
  held_ = held;
  ends_ = std::move(ends);
  same_ends_ = end_counts[0];
  cheap_ends_ = end_counts[1];
  missed_ends_ = end_counts[2];
  low_ = std::move(low);
  calibration_ = std::move(calibration);
  learnt_with_ = std::move(learnt_with);
  paths_ = std::move(paths);
  learnt_low_ = std::move(learnt_low);
  cheap_optimum_ = std::move(cheap_optimum);
  newest_ = std::move(newest);
  best_ = std::move(best);
  played_ = std::move(played);
  starts_.clear();
  for (const Candidate& candidate : played_) starts_.push_back(candidate.start);
  gaps_ = std::move(gaps);
  shortfalls_ = std::move(shortfalls);
  own_value_ = has_own ? std::optional(own) : std::nullopt;
}

}  // namespace hilo
