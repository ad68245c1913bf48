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

// Episodes of the baseline over those of an agent. A level that was not reached makes it a bound:
// at least that much if only the baseline does not get there, at most if only the agent does not.
struct Saving {
  enum class Bound : std::uint8_t { none, exact, at_least, at_most };
  Bound bound = Bound::none;  // none: neither gets there, or no training was needed
  double value = 0;
};

// After how many episodes the mean over seeds of the exact policy value, as a share of the optimum,
// first reaches a level. Infinite: not within the episodes that were run.
struct Need {
  Estimate episodes;
  Saving saving;
  // The ends of its 95 % bootstrap interval, bounds themselves where resamples were censored. None
  // if more than 2.5 % of the resamples have no saving at all.
  std::optional<std::pair<Saving, Saving>> saving_interval;
};

struct Level {
  std::string name;  // "80 %", "MCRL's final level"
  double share = 0;  // of the exact optimum
};

struct AgentAnalysis {
  std::string agent;
  std::size_t seeds = 0;                // of its own
  Summary final_reward;                 // Analysis::reward_metric at the end
  Summary level;                        // the final level: Analysis::level_metric at the end
  std::optional<Summary> exact;         // the exact level at the end: policy_reward or _value
  std::optional<Summary> share;         // policy_value / optimal_value at the end
  std::optional<Summary> advantage;     // final level minus the baseline's, paired
  Estimate iqm;                         // of the final level
  Estimate area;                        // mean of the reward_metric over all of training
  std::optional<Estimate> improvement;  // P(final level above the baseline's), paired; Wilson
  std::vector<Need> needs;              // for each level; empty without exact values
};

// What the seeds say about the agents of an experiment. Joint statistics rest on the seeds that all
// agents have.
struct Analysis {
  std::string baseline;
  std::string level_metric;          // what "final level" is: level_metric_of
  std::string reward_metric;         // behind final_reward: Results::reward_metric
  std::vector<std::uint64_t> seeds;  // common to all agents
  std::uint64_t last_episode = 0;    // at which exact values were taken
  std::vector<Level> levels;
  std::vector<AgentAnalysis> agents;  // those with results

  const AgentAnalysis* find(const std::string& agent) const;
};

// What levels are told in, by findings, tables, pages and Python alike: the exact value of the
// greedy policy where all agents have it, else Results::reward_metric. The paper's y axis, a mean
// per step, rewards whoever ends quickly, so where all that counts comes at the end, or may, it is
// policy_value, and policy_reward elsewhere.
std::string level_metric_of(const Results& results);

Analysis analyse(const Results& results);

}  // namespace hilo
