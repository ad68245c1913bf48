#include "hilo/agent/detail/residual_archive.hpp"

#include <algorithm>
#include <cmath>

namespace hilo {

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

void save_scales(ArchiveWriter& out, const ProcessScales& scales) {
  for (const auto* list : {&scales.length, &scales.signal, &scales.linear, &scales.noise})
    out.array<double>(*list);
}

ProcessScales load_scales(ArchiveReader& in) {
  ProcessScales scales;
  for (auto* list : {&scales.length, &scales.signal, &scales.linear, &scales.noise})
    *list = in.list<double>("scales of the model", 1000);
  for (const auto* list : {&scales.length, &scales.signal, &scales.linear, &scales.noise})
    if (!std::ranges::all_of(*list, [](double x) { return x > 0 && std::isfinite(x); }))
      ArchiveReader::mismatch("set of scales");
  return scales;
}

}  // namespace hilo
