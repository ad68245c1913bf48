#pragma once

#include <string>
#include <vector>

#include "hilo/report/experiment_report.hpp"

namespace hilo {

// The findings of an experiment as sentences, made from the rest of its report.
std::vector<std::string> find_all(const ExperimentReport& report);

// What readers must know about the data behind the results; "" if there is nothing to say.
std::string data_note(const Results& results);

// "20 of 20 published values agree", and how many could not be compared.
std::string count_agreement(const std::vector<Comparison>& comparisons);

// How many episodes were truncated, and how the agent used them: readers of a learning curve must
// know. One sentence for each agent with truncated episodes.
std::vector<std::string> find_cut_episodes(const Results& results);

// The agents that end above the baseline, below it, and those for which this is not clear.
struct Sides {
  std::vector<std::string> above, below, unclear;
};
Sides sides_of(const Analysis& analysis);

// The agent that reaches the baseline's final level with the fewest episodes, fewer than the
// baseline; null if there is none. Agents that are at that level from the start, or whose saving
// has no interval, are not considered.
const AgentAnalysis* largest_saving(const Analysis& analysis);

}  // namespace hilo
