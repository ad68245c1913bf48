#include "hilo/driver/detail/failure_regions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace hilo {
namespace {

constexpr std::size_t kMostRegions = 10;
constexpr std::uint64_t kFewestFailures = 5;  // below this, nothing is said about where
constexpr double kNormal99 = 2.576;           // two-sided 99 % point

// The lower limit of Wilson's interval for a share of k in n.
double wilson_low(double k, double n) {
  const double z2 = kNormal99 * kNormal99;
  const double p = k / n;
  const double centre = p + z2 / (2 * n);
  const double half = kNormal99 * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return (centre - half) / (1 + z2 / n);
}

}  // namespace

FailureReport find_failure_regions(const Journal& journal, std::int64_t run) {
  FailureReport report;
  std::map<State, FailureReport::Region> regions;
  std::uint64_t visits = 0;
  journal.for_each_attempt(run, [&](const Attempt& attempt) {
    if (attempt.failed) report.last_error = attempt.error;
    const std::vector<State>& states = attempt.paid.path.states;
    if (states.empty() || attempt.is_reused()) return;
    ++report.attempts;
    report.failed += attempt.failed ? 1 : 0;
    for (const State s : std::set<State>(states.begin(), states.end())) {
      FailureReport::Region& region =
          regions.try_emplace(s, FailureReport::Region{s, 0, 0}).first->second;
      ++region.visits;
      ++visits;
      region.failed += attempt.failed && s == states.back() ? 1 : 0;
    }
  });
  if (report.failed == 0) return report;
  // Without a region, each visit would be the last with the same chance.
  const double anywhere = static_cast<double>(report.failed) / static_cast<double>(visits);
  for (const auto& [s, region] : regions) {
    if (region.failed == 0) continue;
    report.regions.push_back(region);
    if (region.failed >= kFewestFailures &&
        wilson_low(static_cast<double>(region.failed), static_cast<double>(region.visits)) >
            2 * anywhere)
      report.is_concentrated = true;
  }
  std::ranges::stable_sort(report.regions, std::greater<>(), &FailureReport::Region::failed);
  if (report.regions.size() > kMostRegions) report.regions.resize(kMostRegions);
  return report;
}

}  // namespace hilo
