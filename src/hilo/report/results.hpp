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

// A value of every seed, by rising seed.
using BySeed = std::vector<std::pair<std::uint64_t, double>>;

// The values alone.
std::vector<double> values_of(const BySeed& seeds);

// All finished results of one experiment, by agent, metric, episode and seed.
class Results {
 public:
  Results(const Store& store, const std::string& experiment);

  const std::string& experiment() const { return experiment_; }
  const std::vector<std::string>& agents() const { return agents_; }  // naturally sorted
  std::vector<std::uint64_t> episodes(const std::string& agent, const std::string& metric) const;
  // Those that all seeds of the agent have: where runs end at different episodes, their ends are
  // not among them.
  std::vector<std::uint64_t> common_episodes(const std::string& agent,
                                             const std::string& metric) const;
  std::uint64_t last_episode() const { return last_episode_; }
  std::vector<std::uint64_t> seeds(const std::string& agent) const;
  std::size_t num_seeds(const std::string& agent) const { return seeds(agent).size(); }
  bool has_metric(const std::string& metric) const { return metrics_.contains(metric); }
  std::vector<std::string> metrics() const;  // of all agents, sorted
  // The learning curve: test_reward, or train_reward where nothing was tested. A mean per step
  // rewards whoever ends quickly, so of a user's own simulators it is test_return or train_return.
  const std::string& reward_metric() const { return reward_metric_; }
  std::string problem_kind() const;
  bool is_judged_by_mean_reward() const;  // see ProblemKind
  bool is_of_user() const;  // its simulators are the user's own, not of a registered kind
  bool has_metric(const std::string& agent, const std::string& metric) const;
  // The configuration behind a label, and its hash.
  const Configuration& configuration_of(const std::string& agent) const;
  std::string config_of(const std::string& agent) const;
  std::string kind_of(const std::string& agent) const;  // of agent, whatever its label
  // Whether the problem is made of made-up data, which must be said wherever results are shown.
  bool is_stand_in() const { return stand_in_; }
  // The experiment's name, and that it is a stand-in if it is.
  std::string title() const;

  // What every seed measured there; empty if none did.
  const BySeed& at_seeds(const std::string& agent, const std::string& metric,
                         std::uint64_t episode) const;
  // What every seed measured last, wherever its run ended: a budget in steps ends runs at different
  // episodes.
  const BySeed& final_of(const std::string& agent, const std::string& metric) const;

  // Over the seeds that have a value there; n = 0 if none has.
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
  // What is asked for again and again, and for every agent.
  std::set<std::string> metrics_;
  std::string reward_metric_;
  bool stand_in_ = false;
};

// The mean over seeds of something that belongs to the problems alone, such as optimal_value, from
// the agent with the most seeds; nothing if it is not known.
std::optional<double> mean_of_problem(const Results& results, const std::string& metric);

// "MFMCRL+" of "MFMCRL+ -10 dB": a label without the noise of its problem.
std::string without_noise(const std::string& label, const std::string& snr_db);

// The agent that others are compared with: the first of the kind mcrl where there is one, else the
// first; "" if none.
inline constexpr const char* kBaselineKind = "mcrl";
std::string baseline_of(const Results& results);

// Whether hilo comes with this kind of problem; others were made by the user's own program.
bool is_registered(const std::string& problem_kind);

// Whether a comes before b when numbers in them count as numbers: "m=5" before "m=10", "-10 dB"
// before "-3 dB" before "+3 dB".
bool naturally_less(const std::string& a, const std::string& b);

}  // namespace hilo
