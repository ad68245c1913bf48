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
  if (text.empty()) return value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(Errc::data, fmt::format("published values: '{}' is no number in: {}", text, line));
  return value;
}

double median_error(double q1, double q3, std::uint64_t n) {
  constexpr double kSdPerRange = 1 / 1.3489795;  // of a normal distribution
  constexpr double kMedianPerMean = 1.2533141;   // sqrt(pi / 2)
  return kMedianPerMean * kSdPerRange * (q3 - q1) / std::sqrt(static_cast<double>(n));
}

// The configuration without the keys that name the data it was run on: the shipped spec names a
// stand-in where the real table cannot be shipped, and the paper's low fidelity is not available.
// Reports say which data was used.
Configuration without_content(const Configuration& configuration) {
  Configuration out;
  for (const auto& [key, value] : configuration.entries())
    if (key != "problem.content" && key != "problem.low" && key != "problem.low_epochs")
      out.add(key, value);
  return out;
}

}  // namespace

double PublishedPoint::standard_error() const {
  return statistic == Statistic::median ? median_error(q1, q3, seeds)
                                        : sd / std::sqrt(static_cast<double>(seeds));
}

namespace {

void add_points(std::string_view csv, const std::string& experiment,
                std::vector<PublishedPoint>& points) {
  std::istringstream in{std::string(csv)};
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#' || line.starts_with("experiment,")) continue;
    const std::vector<std::string> f = split(line);
    if (f.size() != 10)
      throw Error(Errc::data, fmt::format("published values: 10 fields are needed in: {}", line));
    if (f[0] != experiment) continue;
    points.push_back({.experiment = f[0],
                      .agent = f[1],
                      .metric = f[2],
                      .episode = static_cast<std::uint64_t>(number(f[3], line)),
                      .statistic = f[4] == "median" ? Statistic::median : Statistic::mean,
                      .value = number(f[5], line),
                      .sd = number(f[6], line),
                      .q1 = number(f[7], line),
                      .q3 = number(f[8], line),
                      .seeds = static_cast<std::uint64_t>(number(f[9], line))});
  }
}

}  // namespace

std::vector<PublishedPoint> published_points(const std::string& experiment) {
  std::vector<PublishedPoint> points;
  for (const std::string_view csv : shipped_published()) add_points(csv, experiment, points);
  return points;
}

std::vector<Comparison> compare_with_published(const Results& results) {
  std::vector<Comparison> out;
  const auto points = published_points(results.experiment());
  if (points.empty() || results.is_stand_in()) return out;
  const auto specs = shipped_specs();
  const auto shipped = std::ranges::find(specs, results.experiment(), &ShippedSpec::name);
  if (shipped == specs.end()) return out;
  const Spec spec = parse_spec(shipped->toml, results.experiment());
  for (const PublishedPoint& point : points) {
    // The store may have a different experiment under the same name.
    const auto config = std::ranges::find(spec.configs, point.agent, &RunConfig::label);
    if (config == spec.configs.end() || without_content(results.configuration_of(point.agent)) !=
                                            without_content(config->configuration))
      continue;
    Comparison c{.published = point};
    const std::vector<double> ours =
        values_of(results.at_seeds(point.agent, point.metric, point.episode));
    c.seeds = ours.size();
    if (point.statistic == Statistic::median) {
      const Quartiles q = quartiles(ours);
      c.value = q.median;
      c.standard_error = median_error(q.q1, q.q3, ours.size());
    } else {
      const Summary s = results.at(point.agent, point.metric, point.episode);
      c.value = s.mean;
      c.standard_error = s.standard_error;
    }
    if (c.seeds >= kSeedsForVerdict) {
      c.difference = (c.value - point.value) / std::hypot(c.standard_error, point.standard_error());
      c.verdict = std::abs(c.difference) <= kAgreement ? Verdict::agrees : Verdict::differs;
    }
    out.push_back(c);
  }
  return out;
}

}  // namespace hilo
