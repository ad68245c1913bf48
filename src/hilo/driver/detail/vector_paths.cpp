#include "hilo/driver/detail/vector_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

// The numbers of all points of a path.
std::vector<double> numbers_of(const Points& points) {
  if (!points.coordinates().empty())
    return {points.coordinates().begin(), points.coordinates().end()};
  std::vector<double> out;
  for (const std::uint64_t index : points.indices()) out.push_back(static_cast<double>(index));
  return out;
}

std::uint64_t size_of(const Space& space) { return std::max<std::size_t>(space.dimension(), 1); }

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::simulator, message); }

void append(const Space& space, std::span<const double> numbers, const std::string& what,
            Points& out) {
  if (space.is_discrete()) {
    const double index = numbers[0];
    if (!(index >= 0 && index < static_cast<double>(space.size())) || index != std::floor(index))
      fail(fmt::format("{} is {}, but must be a whole number below {}", what, index, space.size()));
    out.push_back(static_cast<std::uint64_t>(index));
    return;
  }
  out.push_back(numbers);
  require_in_space(space, out[out.size() - 1], what.c_str());
}

}  // namespace

VectorPath path_of(const VectorEpisode& episode, const AnySimulator& simulator) {
  return {.observation_size = size_of(simulator.observation_space()),
          .action_size = size_of(simulator.action_space()),
          .observations = numbers_of(episode.observations),
          .actions = numbers_of(episode.actions),
          .rewards = episode.rewards,
          .truncated = episode.truncated};
}

VectorEpisode episode_of(const VectorPath& path, const AnySimulator& simulator) {
  const Space& observations = simulator.observation_space();
  const Space& actions = simulator.action_space();
  if (path.observation_size != size_of(observations) || path.action_size != size_of(actions))
    fail(fmt::format(
        "the episode has observations of {} numbers and actions of {}, but must have "
        "{} and {}",
        path.observation_size, path.action_size, size_of(observations), size_of(actions)));
  if (path.observations.size() != (path.length() + 1) * path.observation_size ||
      path.actions.size() != path.length() * path.action_size)
    fail("an episode must have one observation more than rewards, and as many actions as rewards");
  VectorEpisode out(simulator);
  for (std::size_t t = 0; t <= path.length(); ++t)
    append(observations,
           {path.observations.data() + t * path.observation_size, path.observation_size},
           fmt::format("observation {}", t), out.observations);
  for (std::size_t t = 0; t < path.length(); ++t) {
    append(actions, {path.actions.data() + t * path.action_size, path.action_size},
           fmt::format("action {}", t), out.actions);
    if (!std::isfinite(path.rewards[t]))
      fail(fmt::format("reward {} is {}, but must be finite", t, path.rewards[t]));
  }
  out.rewards = path.rewards;
  out.truncated = path.truncated;
  return out;
}

std::optional<VectorPath> whole_steps_of(const VectorEpisode& episode,
                                         const AnySimulator& simulator) {
  VectorPath path = path_of(episode, simulator);
  if (path.observations.size() == (path.length() + 1) * path.observation_size &&
      path.actions.size() == path.length() * path.action_size)
    return path;
  return std::nullopt;
}

}  // namespace hilo
