#pragma once

#include <map>
#include <string>
#include <vector>

#include "hilo/report/statistics.hpp"
#include "hilo/store/store.hpp"

namespace hilo {

// All finished results of one experiment, by agent, metric, episode and seed.
class Results {
 public:
  Results(const Store& store, const std::string& experiment);

  const std::string& experiment() const { return experiment_; }
  const std::vector<std::string>& agents() const { return agents_; }  // naturally sorted
  std::vector<std::uint64_t> episodes(const std::string& agent, const std::string& metric) const;
  std::uint64_t last_episode() const { return last_episode_; }
  std::size_t num_seeds(const std::string& agent) const;
  bool has_metric(const std::string& metric) const;
  // Hash of the configuration behind a label.
  std::string config_of(const std::string& agent) const;

  // Over the seeds that have a value there; n = 0 if none has.
  Summary at(const std::string& agent, const std::string& metric, std::uint64_t episode) const;

  // `agent` minus `baseline`, seed by seed, over the seeds that both have.
  Summary paired_difference(const std::string& agent, const std::string& baseline,
                            const std::string& metric, std::uint64_t episode) const;

 private:
  using BySeed = std::map<std::uint64_t, double>;
  const BySeed* find(const std::string& agent, const std::string& metric,
                     std::uint64_t episode) const;

  std::string experiment_;
  std::vector<std::string> agents_;
  std::map<std::string, std::string> configs_;
  std::uint64_t last_episode_ = 0;
  std::map<std::string, std::map<std::string, std::map<std::uint64_t, BySeed>>> values_;
};

// Whether a comes before b when numbers in them count as numbers: "m=5" before "m=10".
bool naturally_less(const std::string& a, const std::string& b);

}  // namespace hilo
