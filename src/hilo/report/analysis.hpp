#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hilo/report/bootstrap.hpp"
#include "hilo/report/results.hpp"

namespace hilo {

// A statistic over seeds with its 95 % interval.
struct Estimate {
  double value = 0;
  Interval interval;
};

// The episodes that the baseline needs to reach a level, divided by those that an agent needs. If
// only the baseline does not reach the level, the value is a lower bound; if only the agent does
// not, it is an upper bound.
struct Saving {
  enum class Bound : std::uint8_t { none, exact, at_least, at_most };
  Bound bound = Bound::none;  // none: neither reaches it, or the agent is there at episode 0
  double value = 0;
};

// The number of episodes after which the mean over seeds of the exact policy value, as a share of
// the optimum, first reaches a level. Infinite if it does not within the episodes that were run.
struct Need {
  Estimate episodes;
  Saving saving;
  // The ends of the saving's 95 % bootstrap interval. An end is itself a bound if its resample did
  // not reach the level. None if more than 2.5 % of the resamples have no saving at all.
  std::optional<std::pair<Saving, Saving>> saving_interval;
};

struct Level {
  std::string name;  // "80 %", "MCRL's final level"
  double share = 0;  // of the exact optimum
};

struct AgentAnalysis {
  std::string agent;
  std::size_t seeds = 0;                // all that the agent has
  Summary final_reward;                 // Analysis::reward_metric at the end
  Summary level;                        // the final level: Analysis::level_metric at the end
  std::optional<Summary> exact;         // the exact level at the end: policy_reward or _value
  std::optional<Summary> share;         // policy_value / optimal_value at the end
  std::optional<Summary> advantage;     // final level minus the baseline's, paired
  Estimate iqm;                         // of the final level
  Estimate area;                        // mean of Analysis::reward_metric over all of training
  std::optional<Estimate> improvement;  // P(level above the baseline's), paired; Wilson interval
  std::vector<Need> needs;              // for each level; empty without exact values
};

// The statistics of the agents of an experiment. final_reward, level and exact are taken over all
// seeds of an agent, advantage over those that the agent and the baseline have, and the others over
// the seeds that all agents have.
struct Analysis {
  std::string baseline;
  std::string level_metric;          // the metric of the final level: level_metric_of
  std::string reward_metric;         // the metric of final_reward: Results::reward_metric
  std::vector<std::uint64_t> seeds;  // common to all agents
  std::uint64_t last_episode = 0;    // of the baseline's exact values
  std::vector<Level> levels;
  std::vector<AgentAnalysis> agents;  // those with results

  const AgentAnalysis* find(const std::string& agent) const;
};

// The metric by which findings, tables, pages and Python judge agents. If all agents have exact
// results of their greedy policies, it is policy_reward for problems that are judged by the mean
// reward per step (ProblemKind::judged_by_mean_reward) and policy_value for all others: a mean per
// step, the paper's y axis, favours policies that end episodes quickly. Otherwise it is
// Results::reward_metric.
std::string level_metric_of(const Results& results);

Analysis analyse(const Results& results);

}  // namespace hilo
