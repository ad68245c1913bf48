#include "hilo/driver/detail/controlled_test.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "hilo/core/error.hpp"
#include "hilo/estimator/cheap_gain.hpp"
#include "hilo/estimator/controlled_mean.hpp"
#include "hilo/policy/low_policy.hpp"

namespace hilo {
namespace {

constexpr double kCheapShare = 0.1;  // of the cost of the test, that cheap episodes may cost
constexpr double kMostFree = 20;     // for each test episode
constexpr double kSure = 1.645;
constexpr std::size_t kBatch = 256;

// A cheap simulator with the policy that is tested.
using RunCheap = std::function<void(const StreamAddress& streams, std::span<RolloutSummary> out)>;

// The values of consecutive episodes, and their steps.
std::vector<double> run(const RunCheap& cheap, StreamAddress streams, std::uint64_t count,
                        std::uint64_t& steps) {
  std::vector<double> out;
  std::vector<RolloutSummary> summaries;
  while (out.size() < count) {
    summaries.resize(std::min<std::uint64_t>(kBatch, count - out.size()));
    cheap(streams, summaries);
    for (const RolloutSummary& summary : summaries) {
      out.push_back(summary.discounted_return);
      steps += summary.steps;
    }
    streams.first_rollout += static_cast<std::uint32_t>(summaries.size());
  }
  return out;
}

ControlledTest run_test(const std::vector<RunCheap>& cheap, std::span<const TestEpisode> tests,
                        const StreamAddress& streams, double free_share) {
  ControlledTest out;
  PairedSample sample;
  for (const TestEpisode& test : tests) sample.high.push_back(test.value);
  for (const RunCheap& simulator : cheap) {
    std::vector<double>& paired = sample.low.emplace_back();
    for (const TestEpisode& test : tests) {
      StreamAddress at = streams;
      at.first_rollout = static_cast<std::uint32_t>(test.number);
      paired.push_back(run(simulator, at, 1, out.low_steps)[0]);
    }
    sample.free.emplace_back();
  }
  const Predictability seen = predictability({&sample, 1});
  if (!(seen.lower(kSure) > 0)) return out;
  const auto count = static_cast<std::uint64_t>(free_share * static_cast<double>(tests.size()));
  StreamAddress free = streams;
  free.purpose = Purpose::evaluation_free;
  for (std::size_t l = 0; l < cheap.size(); ++l)
    sample.free[l] = run(cheap[l], free, count, out.low_steps);
  const ControlledMean plain = plain_mean(sample.high);
  const ControlledMean mean = controlled_mean(sample);
  if (!(mean.variance < plain.variance) || !(mean.variance > 0)) return out;
  const Bounds bounds = interval_of(mean, 0.05);
  out.value = ControlledTestValue{
      .value = mean.value,
      .low = bounds.low,
      .high = bounds.high,
      .standard_error = std::sqrt(mean.variance),
      .correlation = std::sqrt(seen.r2),
      .free_episodes = count,
      .worth_episodes = static_cast<double>(tests.size()) * plain.variance / mean.variance};
  return out;
}

ControlledTest run_affordable(const std::vector<RunCheap>& cheap,
                              std::span<const TestEpisode> tests, const StreamAddress& streams,
                              double cost_ratio) {
  if (cheap.empty() || tests.size() < least_pairs(cheap.size())) return {};
  // Each test episode costs as many episodes in pairs as there are cheap simulators, and as many
  // free ones as are left.
  const double affordable =
      cost_ratio > 0 ? kCheapShare * cost_ratio / static_cast<double>(cheap.size()) - 1 : kMostFree;
  if (affordable < 1) return {};
  try {
    return run_test(cheap, tests, streams, std::min(affordable, kMostFree));
  } catch (const Error& e) {
    if (e.code() != Errc::simulator) throw;
    return {};  // a cheap simulator that fails is no help, and no reason to lose the test
  }
}

}  // namespace

ControlledTest run_controlled_test(const Fidelities& fidelities, const QTable& q,
                                   std::span<const TestEpisode> tests, const StreamAddress& streams,
                                   const Horizon& horizon, double cost_ratio) {
  std::vector<LowPolicy> policies;
  std::vector<RunCheap> cheap;
  const std::size_t count = std::min(fidelities.lows().size(), kMostCheap);
  for (std::size_t l = 0; l < count; ++l) {
    policies.emplace_back(fidelities.map(l), q.num_actions());
    policies.back().update_all(fidelities.map(l), q);
  }
  for (std::size_t l = 0; l < count; ++l)
    cheap.emplace_back([&, l](const StreamAddress& at, std::span<RolloutSummary> out) {
      fidelities.low(l).run_episodes(policies[l].q().behaviour(0), at, horizon, out);
    });
  return run_affordable(cheap, tests, streams, cost_ratio);
}

ControlledTest run_controlled_test(const VectorSimulator& low, const Policy& policy,
                                   std::span<const TestEpisode> tests, const StreamAddress& streams,
                                   const Horizon& horizon, double cost_ratio) {
  const RunCheap cheap = [&](const StreamAddress& at, std::span<RolloutSummary> out) {
    low.run_episodes(policy, at, horizon, out);
  };
  return run_affordable({cheap}, tests, streams, cost_ratio);
}

}  // namespace hilo
