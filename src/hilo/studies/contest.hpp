#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hilo/report/analysis.hpp"

namespace hilo {

// One problem of the study `contest`.
struct ContestProblem {
  const char* title;
  const char* id;          // in file names
  const char* experiment;  // the experiment with its runs
  const char* snr;         // of the random MDP; "" elsewhere
};

inline constexpr std::array<ContestProblem, 5> kContestProblems = {{
    {"random MDP, -10 dB", "random-minus-10", "contest-random", "-10"},
    {"random MDP, -3 dB", "random-minus-3", "contest-random", "-3"},
    {"random MDP, +3 dB", "random-plus-3", "contest-random", "3"},
    {"docking", "docking", "contest-docking", ""},
    {"architecture search", "nas", "contest-nas", ""},
}};

// The results of one agent on one problem.
struct ContestEntry {
  std::string agent;  // its label without the SNR of the problem
  AgentAnalysis analysis;
  std::vector<double> final_levels, areas;  // of every seed that all agents have
  std::vector<std::uint64_t> episodes;
  std::vector<double> share;  // mean policy value / mean optimal value, at `episodes`
  std::vector<double> high_steps, low_steps;  // spent so far, mean over seeds, at `episodes`

  // The cost until `episode` in high-fidelity steps, where a low-fidelity step costs `low_cost`;
  // infinite if `episode` is.
  double cost(double episode, double low_cost) const;
};

struct ContestTable {
  const ContestProblem* problem;
  Analysis analysis;
  std::size_t seeds = 0;
  std::uint64_t last_episode = 0;
  std::string title;  // with the size of the problem, and a note if its data is made up
  std::vector<ContestEntry> entries;

  const ContestEntry* find(const std::string& agent) const;
};

// All problems of the study that the store has results of. Throws if there are none.
std::vector<ContestTable> read_contest(const Store& store);

// All agents, in the order of the first table that has them.
std::vector<std::string> agents_of(const std::vector<ContestTable>& tables);

// How likely one agent does better than another on the same seed, ties counted half: the mean over
// the problems that both were run on, with a bootstrap interval over seeds within problems.
enum class ContestMeasure { final_level, area };
std::optional<Estimate> chance_to_beat(const std::vector<ContestTable>& tables,
                                       const std::string& agent, const std::string& other,
                                       ContestMeasure measure);

}  // namespace hilo
