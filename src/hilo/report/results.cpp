#include "hilo/report/results.hpp"

#include <algorithm>
#include <set>

namespace hilo {

bool naturally_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const std::size_t a_end = std::min(a.find_first_not_of("0123456789", i), a.size());
      const std::size_t b_end = std::min(b.find_first_not_of("0123456789", j), b.size());
      const std::string x = a.substr(i, a_end - i);
      const std::string y = b.substr(j, b_end - j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      i = a_end;
      j = b_end;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

Results::Results(const Store& store, const std::string& experiment) : experiment_(experiment) {
  agents_ = store.agents(experiment);
  std::ranges::sort(agents_, naturally_less);
  for (const std::string& agent : agents_) configs_[agent] = store.config_of(experiment, agent);
  store.for_each_result(experiment, [&](const ResultRow& row) {
    values_[row.agent][row.metric][row.episode][row.seed] = row.value;
    last_episode_ = std::max(last_episode_, row.episode);
  });
}

const Results::BySeed* Results::find(const std::string& agent, const std::string& metric,
                                     std::uint64_t episode) const {
  const auto a = values_.find(agent);
  if (a == values_.end()) return nullptr;
  const auto m = a->second.find(metric);
  if (m == a->second.end()) return nullptr;
  const auto e = m->second.find(episode);
  return e == m->second.end() ? nullptr : &e->second;
}

std::vector<std::uint64_t> Results::episodes(const std::string& agent,
                                             const std::string& metric) const {
  std::vector<std::uint64_t> out;
  const auto a = values_.find(agent);
  if (a == values_.end()) return out;
  const auto m = a->second.find(metric);
  if (m == a->second.end()) return out;
  for (const auto& [episode, seeds] : m->second) out.push_back(episode);
  return out;
}

std::string Results::config_of(const std::string& agent) const {
  const auto found = configs_.find(agent);
  return found == configs_.end() ? "" : found->second;
}

bool Results::has_metric(const std::string& metric) const {
  return std::ranges::any_of(values_,
                             [&](const auto& agent) { return agent.second.contains(metric); });
}

std::size_t Results::num_seeds(const std::string& agent) const {
  const BySeed* first = find(agent, "test_reward", 0);
  return first == nullptr ? 0 : first->size();
}

Summary Results::at(const std::string& agent, const std::string& metric,
                    std::uint64_t episode) const {
  Moments values;
  if (const BySeed* seeds = find(agent, metric, episode))
    for (const auto& [seed, value] : *seeds) values.add(value);
  return summarise(values);
}

Summary Results::paired_difference(const std::string& agent, const std::string& baseline,
                                   const std::string& metric, std::uint64_t episode) const {
  Moments differences;
  const BySeed* ours = find(agent, metric, episode);
  const BySeed* theirs = find(baseline, metric, episode);
  if (ours != nullptr && theirs != nullptr)
    for (const auto& [seed, value] : *ours)
      if (const auto other = theirs->find(seed); other != theirs->end())
        differences.add(value - other->second);
  return summarise(differences);
}

}  // namespace hilo
