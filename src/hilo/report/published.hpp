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

struct Comparison {
  PublishedPoint published;
  Summary ours;
  double difference = 0;  // in standard errors of the difference, both sides' seeds counted
  bool agrees = false;    // within kAgreement of them
};

inline constexpr double kAgreement = 3.5;

// One for each published point that the results have a value for at all.
std::vector<Comparison> compare_with_published(const Results& results);

}  // namespace hilo
