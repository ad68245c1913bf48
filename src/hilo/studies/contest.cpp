#include "hilo/studies/contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hilo/core/error.hpp"

namespace hilo {
namespace {

double interpolate(const std::vector<std::uint64_t>& x, const std::vector<double>& y, double at) {
  const auto next =
      std::ranges::lower_bound(x, at, {}, [](std::uint64_t e) { return static_cast<double>(e); });
  if (next == x.begin()) return y.front();
  if (next == x.end()) return y.back();
  const auto k = static_cast<std::size_t>(next - x.begin());
  const auto from = static_cast<double>(x[k - 1]), to = static_cast<double>(x[k]);
  return y[k - 1] + (y[k] - y[k - 1]) * (at - from) / (to - from);
}

// The values of the given seeds, all of which must be present.
std::vector<double> of_seeds(const BySeed& values, const std::vector<std::uint64_t>& seeds) {
  std::vector<double> out;
  for (const auto& [seed, value] : values)
    if (std::ranges::binary_search(seeds, seed)) out.push_back(value);
  return out;
}

double mean_at(const Results& results, const std::string& agent, const std::string& metric,
               std::uint64_t episode) {
  return results.at(agent, metric, episode).mean;
}

ContestEntry entry_of(const Results& results, const Analysis& analysis, const AgentAnalysis& agent,
                      const std::string& snr) {
  ContestEntry entry;
  entry.agent = snr.empty() ? agent.agent : without_noise(agent.agent, snr);
  entry.analysis = agent;
  entry.final_levels =
      of_seeds(results.final_of(agent.agent, analysis.level_metric), analysis.seeds);
  entry.episodes = results.common_episodes(agent.agent, analysis.level_metric);
  std::vector<std::vector<double>> curves(analysis.seeds.size());
  const double optimum = mean_of_problem(results, "optimal_value").value_or(0);
  for (const std::uint64_t episode : entry.episodes) {
    const auto values =
        of_seeds(results.at_seeds(agent.agent, analysis.level_metric, episode), analysis.seeds);
    for (std::size_t i = 0; i < curves.size(); ++i) curves[i].push_back(values[i]);
    entry.share.push_back(mean_at(results, agent.agent, "policy_value", episode) / optimum);
    entry.high_steps.push_back(mean_at(results, agent.agent, "high_steps_so_far", episode));
    entry.low_steps.push_back(mean_at(results, agent.agent, "low_steps_so_far", episode));
  }
  for (const auto& curve : curves) entry.areas.push_back(area_under_curve(entry.episodes, curve));
  return entry;
}

std::string title_of(const ContestProblem& problem, const Results& results) {
  const Configuration& configuration = results.configuration_of(results.agents().front());
  std::string title = problem.title;
  if (const std::string states = configuration.value("problem.states"); !states.empty())
    title +=
        fmt::format(" ({} states, {} actions)", states, configuration.value("problem.actions"));
  if (results.is_stand_in()) title += " (STAND-IN DATA, made up)";
  return title;
}

}  // namespace

double ContestEntry::cost(double episode, double low_cost) const {
  if (!std::isfinite(episode)) return std::numeric_limits<double>::infinity();
  return interpolate(episodes, high_steps, episode) +
         low_cost * interpolate(episodes, low_steps, episode);
}

const ContestEntry* ContestTable::find(const std::string& agent) const {
  const auto found = std::ranges::find(entries, agent, &ContestEntry::agent);
  return found == entries.end() ? nullptr : &*found;
}

std::vector<ContestTable> read_contest(const Store& store) {
  const auto known = store.experiments();
  std::vector<ContestTable> tables;
  std::string experiment;
  std::optional<Results> results;
  std::optional<Analysis> analysis;
  for (const ContestProblem& problem : kContestProblems) {
    if (std::ranges::find(known, problem.experiment) == known.end()) continue;
    if (experiment != problem.experiment) {
      experiment = problem.experiment;
      results.emplace(store, experiment);
      analysis = analyse(*results);
    }
    if (analysis->seeds.empty() || analysis->levels.empty()) continue;
    ContestTable table{.problem = &problem,
                       .analysis = *analysis,
                       .seeds = analysis->seeds.size(),
                       .last_episode = analysis->last_episode,
                       .title = title_of(problem, *results),
                       .entries = {}};
    for (const AgentAnalysis& agent : analysis->agents) {
      const std::string snr = results->configuration_of(agent.agent).value("problem.snr_db");
      // An agent that never uses the low fidelity has no SNR and takes part at every SNR.
      if (!snr.empty() && snr != problem.snr) continue;
      table.entries.push_back(entry_of(*results, *analysis, agent, snr));
    }
    tables.push_back(std::move(table));
  }
  if (tables.empty())
    throw Error(Errc::usage,
                "the guide to the agents needs the experiments of the study contest: hilo "
                "reproduce contest");
  return tables;
}

std::vector<std::string> agents_of(const std::vector<ContestTable>& tables) {
  std::vector<std::string> agents;
  for (const ContestTable& table : tables)
    for (const ContestEntry& entry : table.entries)
      if (std::ranges::find(agents, entry.agent) == agents.end()) agents.push_back(entry.agent);
  return agents;
}

std::optional<Estimate> chance_to_beat(const std::vector<ContestTable>& tables,
                                       const std::string& agent, const std::string& other,
                                       ContestMeasure measure) {
  std::vector<std::pair<const std::vector<double>*, const std::vector<double>*>> both;
  for (const ContestTable& table : tables) {
    const ContestEntry* x = table.find(agent);
    const ContestEntry* y = table.find(other);
    if (x == nullptr || y == nullptr) continue;
    if (measure == ContestMeasure::area)
      both.emplace_back(&x->areas, &y->areas);
    else
      both.emplace_back(&x->final_levels, &y->final_levels);
  }
  if (both.empty()) return std::nullopt;
  Estimate estimate;
  std::vector<double> resampled(Bootstrap::kResamples, 0);
  const auto num = static_cast<double>(both.size());
  for (const auto& [x, y] : both) {
    estimate.value += probability_of_improvement(*x, *y) / num;
    const Bootstrap bootstrap(x->size());
    std::vector<double> xs(x->size()), ys(x->size());
    for (std::size_t b = 0; b < bootstrap.resamples(); ++b) {
      const auto places = bootstrap.resample(b);
      for (std::size_t i = 0; i < places.size(); ++i) {
        xs[i] = (*x)[places[i]];
        ys[i] = (*y)[places[i]];
      }
      resampled[b] += probability_of_improvement(xs, ys) / num;
    }
  }
  estimate.interval = percentile_interval(std::move(resampled));
  return estimate;
}

}  // namespace hilo
