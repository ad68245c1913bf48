#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hilo/report/statistics.hpp"
#include "hilo/store/store.hpp"

namespace hilo {

// One value for each seed, in ascending order of the seeds.
using BySeed = std::vector<std::pair<std::uint64_t, double>>;

// The values without the seeds.
std::vector<double> values_of(const BySeed& seeds);

// All finished results of one experiment, by agent, metric, episode and seed.
class Results {
 public:
  Results(const Store& store, const std::string& experiment);

  const std::string& experiment() const { return experiment_; }
  const std::vector<std::string>& agents() const { return agents_; }  // sorted by naturally_less
  std::vector<std::uint64_t> episodes(const std::string& agent, const std::string& metric) const;
  // The episodes at which all seeds of the agent have a value. Where runs end at different
  // episodes, their last episodes are in general not among them.
  std::vector<std::uint64_t> common_episodes(const std::string& agent,
                                             const std::string& metric) const;
  std::uint64_t last_episode() const { return last_episode_; }
  std::vector<std::uint64_t> seeds(const std::string& agent) const;
  std::size_t num_seeds(const std::string& agent) const { return seeds(agent).size(); }
  bool has_metric(const std::string& metric) const { return metrics_.contains(metric); }
  std::vector<std::string> metrics() const;  // of all agents, sorted
  // The metric of the learning curve: test_reward, or train_reward if nothing was tested. A mean
  // per step favours policies that end episodes quickly. So it is test_return or train_return, if
  // recorded, for a user's own simulators, and for registered kinds that are not judged by the mean
  // reward if there are no exact values.
  const std::string& reward_metric() const { return reward_metric_; }
  std::string problem_kind() const;
  bool is_judged_by_mean_reward() const;  // see ProblemKind
  bool is_of_user() const;                // the problem is not of a registered kind
  // Whether states are vectors, so that expensive episodes are few. It is known by the problem's
  // kind if that has nothing else, and by agents that can do nothing else.
  bool has_vectors() const;
  bool has_metric(const std::string& agent, const std::string& metric) const;
  // The configuration that a label stands for, and its hash.
  const Configuration& configuration_of(const std::string& agent) const;
  std::string config_of(const std::string& agent) const;
  std::string kind_of(const std::string& agent) const;  // the agent's kind, whatever its label
  // Whether the problem uses made-up data, which must be stated wherever results are shown.
  bool is_stand_in() const { return stand_in_; }
  // The experiment's name, with a note if its data is a stand-in.
  std::string title() const;

  // The values of all seeds at an episode; empty if there are none.
  const BySeed& at_seeds(const std::string& agent, const std::string& metric,
                         std::uint64_t episode) const;
  // The last value of every seed, at whichever episode its run ended: with a budget in steps, runs
  // end at different episodes.
  const BySeed& final_of(const std::string& agent, const std::string& metric) const;

  // Over the seeds that have a value at the episode; n = 0 if none has.
  Summary at(const std::string& agent, const std::string& metric, std::uint64_t episode) const;

  // `agent` minus `baseline` at the end of each run, seed by seed, over the seeds that both have.
  Summary paired_difference(const std::string& agent, const std::string& baseline,
                            const std::string& metric) const;

 private:
  struct Series {
    std::map<std::uint64_t, BySeed> by_episode;
    BySeed last;
  };
  const Series* find(const std::string& agent, const std::string& metric) const;
  std::string find_reward_metric() const;

  std::string experiment_;
  std::vector<std::string> agents_;
  std::map<std::string, std::string> configs_;
  std::map<std::string, Configuration> configurations_;
  std::uint64_t last_episode_ = 0;
  std::map<std::string, std::map<std::string, Series>> values_;
  // Computed once, because they are needed often.
  std::set<std::string> metrics_;
  std::string reward_metric_;
  bool stand_in_ = false;
};

// The mean over seeds of a metric that depends on the problem but not on the agent, such as
// optimal_value. It is taken from the agent with the most seeds; nothing if no agent has it.
std::optional<double> mean_of_problem(const Results& results, const std::string& metric);

// A label without the SNR of its problem: "MFMCRL+" for "MFMCRL+ -10 dB".
std::string without_noise(const std::string& label, const std::string& snr_db);

// The agent that the others are compared with: the one of the kind mcrl with the kind's plain name,
// else the first of the kind mcrl, else the first agent; "" if there are no agents.
inline constexpr const char* kBaselineKind = "mcrl";
std::string baseline_of(const Results& results);

// Whether the kind of problem is registered. Otherwise the user's own program made the problem.
bool is_registered(const std::string& problem_kind);

// Whether a comes before b in natural order, where numbers within texts are compared as numbers:
// "m=5" before "m=10", "-10 dB" before "-3 dB" before "+3 dB".
bool naturally_less(const std::string& a, const std::string& b);

}  // namespace hilo
