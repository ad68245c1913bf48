#include "hilo/report/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "hilo/core/error.hpp"
#include "hilo/experiment/spec.hpp"
#include "hilo/report/shipped.hpp"

namespace hilo {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  std::string field;
  while (std::getline(in, field, ',')) fields.push_back(field);
  return fields;
}

double number(const std::string& text, const std::string& line) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(Errc::data, fmt::format("published values: '{}' is no number in: {}", text, line));
  return value;
}

}  // namespace

std::vector<PublishedPoint> published_points(const std::string& experiment) {
  std::istringstream in{std::string(shipped_published())};
  std::vector<PublishedPoint> points;
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#' || line.starts_with("experiment,")) continue;
    const std::vector<std::string> f = split(line);
    if (f.size() != 7)
      throw Error(Errc::data, fmt::format("published values: 7 fields are needed in: {}", line));
    if (f[0] != experiment) continue;
    points.push_back({f[0], f[1], f[2], static_cast<std::uint64_t>(number(f[3], line)),
                      number(f[4], line), number(f[5], line),
                      static_cast<std::uint64_t>(number(f[6], line))});
  }
  return points;
}

std::vector<Comparison> compare_with_published(const Results& results) {
  std::vector<Comparison> out;
  const auto points = published_points(results.experiment());
  if (points.empty()) return out;
  const auto specs = shipped_specs();
  const auto shipped = std::ranges::find(specs, results.experiment(), &ShippedSpec::name);
  if (shipped == specs.end()) return out;
  const Spec spec = parse_spec(shipped->toml, results.experiment());
  for (const PublishedPoint& point : points) {
    // An experiment of the same name may be another one.
    const auto config = std::ranges::find(spec.configs, point.agent, &RunConfig::label);
    if (config == spec.configs.end() || results.config_of(point.agent) != config->hash) continue;
    Comparison c{.published = point, .ours = results.at(point.agent, point.metric, point.episode)};
    if (c.ours.n >= 2) {
      const double variance = c.ours.standard_error * c.ours.standard_error +
                              point.sd * point.sd / static_cast<double>(point.seeds);
      c.difference = (c.ours.mean - point.mean) / std::sqrt(variance);
      c.verdict = std::abs(c.difference) <= kAgreement ? Verdict::agrees : Verdict::differs;
    }
    out.push_back(c);
  }
  return out;
}

}  // namespace hilo
