#pragma once

#include <string>
#include <vector>

#include "hilo/report/results.hpp"

namespace hilo {

// A published mean ± sd over seeds.
struct PublishedPoint {
  std::string experiment, agent, metric;
  std::uint64_t episode = 0;
  double mean = 0, sd = 0;
  std::uint64_t seeds = 0;
};

// The facts that ship with the program: experiments/published.csv.
std::vector<PublishedPoint> published_points(const std::string& experiment);

inline constexpr double kAgreement = 3.5;

enum class Verdict : std::uint8_t { agrees, differs, too_few_seeds };

struct Comparison {
  PublishedPoint published;
  Summary ours;
  double difference = 0;  // in standard errors of the difference, both sides' seeds counted
  Verdict verdict = Verdict::too_few_seeds;  // agrees: within kAgreement of them
};

// One for each published point of the experiment, if the results are those of the shipped spec.
std::vector<Comparison> compare_with_published(const Results& results);

}  // namespace hilo
