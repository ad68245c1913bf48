#pragma once

#include <string>
#include <vector>

#include "hilo/report/experiment_report.hpp"

namespace hilo {

// What an experiment says, in sentences, from the rest of its report.
std::vector<std::string> find_all(const ExperimentReport& report);

// What must be known about the data behind the results; "" if there is nothing to say.
std::string data_note(const Results& results);

// "20 of 20 published values agree", and how many could not be compared.
std::string count_agreement(const std::vector<Comparison>& comparisons);

// Episodes that were cut, and what became of them: whoever reads a curve must know.
std::vector<std::string> find_cut_episodes(const Results& results);

// How many agents end above, below, and where it cannot be told.
struct Sides {
  std::vector<std::string> above, below, unclear;
};
Sides sides_of(const Analysis& analysis);

// The agent that reaches the baseline's final level with the fewest episodes; null if none does.
const AgentAnalysis* largest_saving(const Analysis& analysis);

}  // namespace hilo
