#pragma once

#include <string>
#include <vector>

#include "hilo/report/results.hpp"

namespace hilo {

enum class Statistic : std::uint8_t { mean, median };

// A published mean ± sd, or median [q1, q3], over seeds.
struct PublishedPoint {
  std::string experiment, agent, metric;
  std::uint64_t episode = 0;
  Statistic statistic = Statistic::mean;
  double value = 0;
  double sd = 0;          // of a mean
  double q1 = 0, q3 = 0;  // of a median
  std::uint64_t seeds = 0;

  // Of the mean: sd / sqrt(n). Of the median, for values that are about normal:
  // sqrt(pi / 2) sd / sqrt(n) with sd = (q3 - q1) / 1.349.
  double standard_error() const;
};

// The published values of a shipped experiment.
std::vector<PublishedPoint> published_points(const std::string& experiment);

inline constexpr double kAgreement = 3.5;
// With fewer seeds the standard error itself is too uncertain for a verdict.
inline constexpr std::uint64_t kSeedsForVerdict = 5;

enum class Verdict : std::uint8_t { agrees, differs, too_few_seeds };

struct Comparison {
  PublishedPoint published;
  std::uint64_t seeds = 0;  // ours
  double value = 0;         // our mean or median
  double standard_error = 0;
  double difference = 0;  // in standard errors of the difference, from both sides' errors
  Verdict verdict = Verdict::too_few_seeds;  // agrees: at most kAgreement of them
};

// One comparison for each published point whose agent has the configuration of the shipped spec;
// only the data it was run on may differ. Stand-in data is never compared.
std::vector<Comparison> compare_with_published(const Results& results);

}  // namespace hilo
