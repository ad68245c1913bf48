#include "hilo/env/program/detail/checked_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hilo/env/program/detail/checked_walk.hpp"

namespace hilo {
namespace {

constexpr double kRewardTolerance = 1e-9;  // relative

// Starts in the observation after t steps, and compares the rest of the path.
std::string continued(StepSource& source, const Path& path, const Points& seen, std::size_t t,
                      std::uint32_t seed) {
  const SourceEntry entry(source);
  Actions actions(source.action_space(), seed);
  Points again(source.observation_space());
  source.put(seen[t], seed);
  for (std::size_t k = t; k < path.rewards.size(); ++k) {
    const SourceStep step = source.step(actions.at(static_cast<std::uint32_t>(k)), again);
    const std::string observation = text_of(again[again.size() - 1]);
    if (observation == path.observations[k + 1] && step.reward == path.rewards[k]) continue;
    return fmt::format(
        "started in the observation{} that a path had after {} steps, it goes on differently: "
        "step {} gave{} and reward {:.17g}, on the path{} and {:.17g}",
        path.observations[t], t, k + 1, observation, step.reward, path.observations[k + 1],
        path.rewards[k]);
  }
  return "";
}

}  // namespace

std::string start_continues(StepSource& source, const ProgramFacts& facts,
                            std::uint32_t first_seed) {
  if (!facts.starts_anywhere) return "- it cannot be started in any state";
  if (!facts.deterministic)
    return "- it draws random numbers, so that this cannot be told (\"deterministic\": false)";
  for (std::uint32_t e = 0; e < 3; ++e) {
    Walk whole(source, first_seed + e);
    whole.reset(first_seed + e);
    for (std::uint32_t t = 0; t < kFewSteps && whole.step();) ++t;
    const Path path = whole.path();
    Points seen(source.observation_space());
    for (std::size_t i = 0; i < whole.seen().size(); ++i) seen.push_back(whole.seen()[i]);
    for (std::size_t t = 1; t + 1 < path.observations.size(); t += 1 + t / 4)
      if (const std::string d = continued(source, path, seen, t, first_seed + e); !d.empty())
        return d;
  }
  return "";
}

std::string rewards_agree(StepSource& source, std::uint32_t seed) {
  const SourceEntry entry(source);
  if (!source.tells_rewards())
    return "- it does not know the request reward, so that mfmcrl needs coupling = \"none\"";
  Points seen(source.observation_space());
  Actions actions(source.action_space(), seed);
  source.reset(seed, seen);
  std::vector<double> step_rewards;
  for (std::uint32_t t = 0; t < kFewSteps; ++t) {
    const SourceStep step = source.step(actions.at(t), seen);
    step_rewards.push_back(step.reward);
    if (step.ended || step.cut) break;
  }
  for (std::uint32_t t = 0; t < step_rewards.size(); ++t) {
    const double told = source.reward(seen[t], actions.at(t), seen[t + 1]);
    const double tolerance = kRewardTolerance * std::max(1.0, std::abs(step_rewards[t]));
    if (std::abs(told - step_rewards[t]) > tolerance)
      return fmt::format("step {} paid {:.17g}, but reward says {:.17g}", t + 1, step_rewards[t],
                         told);
  }
  return "";
}

}  // namespace hilo
