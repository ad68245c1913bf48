#include "hilo/rollout/path_batch.hpp"

#include <algorithm>
#include <cmath>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

std::size_t rows_of(const Space& actions) {
  return actions.is_discrete() ? 1 : actions.dimension();
}

bool is_finite(const Columns& columns, std::size_t i) {
  for (std::size_t d = 0; d < columns.rows(); ++d)
    if (!std::isfinite(columns.at(d, i))) return false;
  return true;
}

void copy_column(const Columns& from, std::size_t i, Columns& to, std::size_t k) {
  for (std::size_t d = 0; d < from.rows(); ++d) to.at(d, k) = from.at(d, i);
}

// What was recorded with room for `most` steps of each path, without the room that is left.
PathBatch without_gaps(const Columns& observations, const Columns& actions,
                       const std::vector<double>& rewards, const std::vector<std::size_t>& lengths,
                       std::size_t most) {
  PathBatch out;
  for (const std::size_t length : lengths) out.first.push_back(out.first.back() + length);
  const std::size_t total = out.first.back();
  out.observations.resize(observations.rows(), total);
  out.actions.resize(actions.rows(), total);
  out.rewards.resize(total);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const std::size_t from = k * most, to = out.first[k];
    for (std::size_t d = 0; d < observations.rows(); ++d)
      std::copy_n(observations.row(d) + from, lengths[k], out.observations.row(d) + to);
    for (std::size_t d = 0; d < actions.rows(); ++d)
      std::copy_n(actions.row(d) + from, lengths[k], out.actions.row(d) + to);
    std::copy_n(rewards.begin() + static_cast<std::ptrdiff_t>(from), lengths[k],
                out.rewards.begin() + static_cast<std::ptrdiff_t>(to));
  }
  return out;
}

}  // namespace

PathBatch as_paths(std::span<const VectorEpisode> episodes, const Space& observations,
                   const Space& actions) {
  PathBatch out;
  for (const VectorEpisode& episode : episodes)
    out.first.push_back(out.first.back() + episode.length());
  out.observations.resize(observations.dimension(), out.first.back());
  out.actions.resize(rows_of(actions), out.first.back());
  std::size_t at = 0;
  for (const VectorEpisode& episode : episodes)
    for (std::size_t t = 0; t < episode.length(); ++t, ++at) {
      out.observations.set(at, episode.observations[t].coordinates());
      if (actions.is_discrete())
        out.actions.at(0, at) = static_cast<double>(episode.actions[t].index());
      else
        out.actions.set(at, episode.actions[t].coordinates());
      out.rewards.push_back(episode.rewards[t]);
    }
  return out;
}

namespace {

// The paths that still run: column i belongs to path `path[i]`.
struct Running {
  Columns states;
  std::vector<std::size_t> path;
  std::vector<Stream> streams;

  // Leaves out those that have ended, so that nobody pays for their steps.
  void keep(const std::vector<std::uint8_t>& has_ended) {
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < path.size(); ++i)
      if (has_ended[i] == 0) columns.push_back(i);
    Columns kept(states.rows(), columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k) {
      copy_column(states, columns[k], kept, k);
      path[k] = path[columns[k]];
      streams[k] = streams[columns[k]];
    }
    states = std::move(kept);
    path.resize(columns.size());
    streams.erase(streams.begin() + static_cast<std::ptrdiff_t>(columns.size()), streams.end());
  }
};

}  // namespace

PathBatch run_paths(const VectorSteps& simulator, const Policy& policy, const Columns& starts,
                    std::span<const Stream> streams, const Horizon& horizon, std::uint64_t& steps) {
  const std::size_t count = starts.count(), most = horizon.max_steps;
  if (streams.size() != count)
    throw Error(Errc::usage, "paths that advance together need a stream each");
  Running now{.states = starts, .path = {}, .streams = {streams.begin(), streams.end()}};
  for (std::size_t k = 0; k < count; ++k) now.path.push_back(k);
  const std::size_t action_rows = rows_of(simulator.control_space());
  Columns seen(starts.rows(), count * most), taken(action_rows, count * most), actions;
  std::vector<double> rewards(count * most);
  std::vector<std::size_t> lengths(count, 0);
  std::vector<std::uint8_t> has_ended;
  std::vector<ActionWords> words;
  StepResults results;
  for (std::uint32_t t = 0; t < most && !now.path.empty(); ++t) {
    const std::size_t running = now.path.size();
    if (actions.count() != running) {
      actions.resize(action_rows, running);
      results.resize(actions.padded());
      has_ended.assign(running, 0);
      words.resize(running);
    }
    for (std::size_t i = 0; i < running; ++i) {
      Rng rng = Rng::of_step(now.streams[i], t + 1);
      words[i] = draw_action_words(rng);
    }
    policy.act_columns(now.states, words, actions);
    for (std::size_t i = 0; i < running; ++i) {
      copy_column(now.states, i, seen, now.path[i] * most + t);
      copy_column(actions, i, taken, now.path[i] * most + t);
    }
    simulator.step(now.states, actions, now.streams, t + 1, results);
    steps += running;
    bool any_ended = false;
    for (std::size_t i = 0; i < running; ++i) {
      const bool is_lost = !is_finite(now.states, i) || !std::isfinite(results.rewards[i]);
      if (!is_lost) {
        rewards[now.path[i] * most + t] = results.rewards[i];
        lengths[now.path[i]] = t + 1;
      }
      has_ended[i] = is_lost || results.done[i] != 0 ? 1 : 0;
      any_ended = any_ended || has_ended[i] != 0;
    }
    if (any_ended) now.keep(has_ended);
  }
  return without_gaps(seen, taken, rewards, lengths, most);
}

std::vector<double> returns_to_go(const PathBatch& paths, double gamma) {
  std::vector<double> out(paths.num_steps());
  for (std::size_t k = 0; k < paths.size(); ++k) {
    double sum = 0;
    for (std::size_t t = paths.first[k + 1]; t-- > paths.first[k];)
      out[t] = sum = gamma * sum + paths.rewards[t];
  }
  return out;
}

}  // namespace hilo
