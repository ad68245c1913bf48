#include <algorithm>
#include <cmath>

#include "hilo/agent/corrected.hpp"
#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"

// How the agent is saved. A model is not saved but made again from its steps and scales.
namespace hilo {
namespace {

void save_data(ArchiveWriter& out, const ResidualData& data) {
  out.array<double>(data.inputs);
  out.array<double>(data.outputs);
  out.array<double>(data.seen);
  out.array<std::uint32_t>(data.episodes);
}

ResidualData load_data(ArchiveReader& in, const ResidualData& like) {
  ResidualData data(like.states, like.actions, like.angles);
  data.inputs = in.list<double>("residuals", kAnyLength);
  data.outputs = in.list<double>("residuals", kAnyLength);
  data.seen = in.list<double>("residuals", kAnyLength);
  data.episodes = in.list<std::uint32_t>("residuals", kAnyLength);
  const std::size_t n = data.episodes.size();
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::ranges::all_of(data.inputs, finite) || !std::ranges::all_of(data.outputs, finite) ||
      !std::ranges::all_of(data.seen, [](double x) { return x == 0 || x == 1; }))
    ArchiveReader::mismatch("set of residuals");
  if (data.inputs.size() != n * data.num_inputs() ||
      data.outputs.size() != n * data.num_outputs() || data.seen.size() != data.outputs.size() ||
      !std::ranges::is_sorted(data.episodes))
    ArchiveReader::mismatch("number of residuals");
  return data;
}

}  // namespace

std::vector<std::byte> Corrected::save() const {
  ArchiveWriter out("corrected", kArchiveVersion);
  out.value(seed_);
  out.value(static_cast<std::uint64_t>(shape_.num_weights()));
  out.array<double>(shape_.centre);
  out.array<double>(shape_.scale);
  out.value(num_episodes_);
  out.value(is_prepared_);
  out.value(uses_low_);
  save_data(out, on_low_);
  save_data(out, on_nothing_);
  const ProcessScales scales = model_ != nullptr ? model_->scales() : ProcessScales();
  out.value(model_ != nullptr);
  for (const auto* list : {&scales.length, &scales.signal, &scales.linear, &scales.noise})
    out.array<double>(*list);
  for (const auto* weights : {&cheap_optimum_, &newest_, &best_}) out.array<double>(*weights);
  out.value(static_cast<std::uint64_t>(played_.size()));
  for (const Candidate& candidate : played_) {
    out.array<double>(candidate.weights);
    out.array<double>(candidate.start);
    out.value(candidate.seen);
  }
  out.array<double>(gaps_);
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
  const bool is_prepared = in.flag("preparation");
  const bool uses_low = in.flag("cheap simulator");
  if (uses_low && !pair_.has_low()) ArchiveReader::mismatch("cheap simulator");
  ResidualData on_low = load_data(in, on_low_), on_nothing = load_data(in, on_nothing_);
  const bool has_model = in.flag("model");
  ProcessScales scales;
  for (auto* list : {&scales.length, &scales.signal, &scales.linear, &scales.noise})
    *list = in.list<double>("scales of the model", 1000);
  for (const auto* list : {&scales.length, &scales.signal, &scales.linear, &scales.noise})
    if (!std::ranges::all_of(*list, [](double x) { return x > 0 && std::isfinite(x); }))
      ArchiveReader::mismatch("set of scales");
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
  if (has_model)
    model = std::make_shared<const ResidualModel>(uses_low ? on_low : on_nothing,
                                                  residual_options(), seed_, scales);
  shape_ = std::move(shape);
  num_episodes_ = num_episodes;
  is_prepared_ = is_prepared;
  uses_low_ = uses_low;
  on_low_ = std::move(on_low);
  on_nothing_ = std::move(on_nothing);
  model_ = std::move(model);
  cheap_optimum_ = std::move(cheap_optimum);
  newest_ = std::move(newest);
  best_ = std::move(best);
  played_ = std::move(played);
  starts_.clear();
  for (const Candidate& candidate : played_) starts_.push_back(candidate.start);
  gaps_ = std::move(gaps);
  own_value_ = has_own ? std::optional(own) : std::nullopt;
}

}  // namespace hilo
