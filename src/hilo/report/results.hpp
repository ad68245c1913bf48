#pragma once

#include <map>
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
  std::uint64_t last_episode() const { return last_episode_; }
  std::vector<std::uint64_t> seeds(const std::string& agent) const;
  std::size_t num_seeds(const std::string& agent) const { return seeds(agent).size(); }
  bool has_metric(const std::string& metric) const;
  bool has_metric(const std::string& agent, const std::string& metric) const;
  // Hash of the configuration behind a label.
  std::string config_of(const std::string& agent) const;

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

  std::string experiment_;
  std::vector<std::string> agents_;
  std::map<std::string, std::string> configs_;
  std::uint64_t last_episode_ = 0;
  std::map<std::string, std::map<std::string, Series>> values_;
};

// The agent that others are compared with: MCRL where there is one, else the first; "" if none.
std::string baseline_of(const Results& results);

// Whether a comes before b when numbers in them count as numbers: "m=5" before "m=10", "-10 dB"
// before "-3 dB" before "+3 dB".
bool naturally_less(const std::string& a, const std::string& b);

}  // namespace hilo
