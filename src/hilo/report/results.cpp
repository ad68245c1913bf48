#include "hilo/report/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hilo/agent/catalogue.hpp"
#include "hilo/env/catalogue.hpp"

namespace hilo {
namespace {

const BySeed kNone;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A number in a text, and the index after it. A sign belongs to it only at the start of a word: the
// number is -3 in "x -3 dB", but 3 in "figure-3".
struct Number {
  double value = 0;
  std::size_t end = 0;
};

std::size_t number_start(const std::string& text, std::size_t i) {
  const bool sign = (text[i] == '-' || text[i] == '+') && i + 1 < text.size() &&
                    is_digit(text[i + 1]) && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '=');
  if (sign) return i + 1;
  return is_digit(text[i]) ? i : std::string::npos;
}

Number read_number(const std::string& text, std::size_t i, std::size_t digits) {
  Number number;
  const char* const first = text.data() + digits;
  const auto [end, error] =
      std::from_chars(first, text.data() + text.size(), number.value, std::chars_format::fixed);
  number.end = digits + static_cast<std::size_t>(end - first);
  if (text[i] == '-') number.value = -number.value;
  return number;
}

}  // namespace

bool naturally_less(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const std::size_t a_digits = number_start(a, i);
    const std::size_t b_digits = number_start(b, j);
    if (a_digits != std::string::npos && b_digits != std::string::npos) {
      const Number x = read_number(a, i, a_digits);
      const Number y = read_number(b, j, b_digits);
      if (x.value != y.value) return x.value < y.value;
      i = x.end;
      j = y.end;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

std::vector<double> values_of(const BySeed& seeds) {
  std::vector<double> values;
  values.reserve(seeds.size());
  for (const auto& [seed, value] : seeds) values.push_back(value);
  return values;
}

Results::Results(const Store& store, const std::string& experiment) : experiment_(experiment) {
  agents_ = store.agents(experiment);
  std::ranges::sort(agents_, naturally_less);
  for (const std::string& agent : agents_) configs_[agent] = store.config_of(experiment, agent);
  for (const AgentStatus& status : store.agent_status(experiment))
    configurations_[status.agent] = status.configuration;
  // Rows come sorted by agent, seed and episode.
  store.for_each_result(experiment, [&](const ResultRow& row) {
    Series& series = values_[row.agent][row.metric];
    series.by_episode[row.episode].emplace_back(row.seed, row.value);
    if (series.last.empty() || series.last.back().first != row.seed)
      series.last.emplace_back(row.seed, row.value);
    else
      series.last.back().second = row.value;
    last_episode_ = std::max(last_episode_, row.episode);
  });
  for (const auto& [agent, series] : values_)
    for (const auto& [metric, values] : series) metrics_.insert(metric);
  reward_metric_ = find_reward_metric();
  stand_in_ = std::ranges::any_of(configurations_, [](const auto& entry) {
    return entry.second.value("problem.content").starts_with("stand-in");
  });
}

const Results::Series* Results::find(const std::string& agent, const std::string& metric) const {
  const auto a = values_.find(agent);
  if (a == values_.end()) return nullptr;
  const auto m = a->second.find(metric);
  return m == a->second.end() ? nullptr : &m->second;
}

const BySeed& Results::at_seeds(const std::string& agent, const std::string& metric,
                                std::uint64_t episode) const {
  const Series* series = find(agent, metric);
  if (series == nullptr) return kNone;
  const auto found = series->by_episode.find(episode);
  return found == series->by_episode.end() ? kNone : found->second;
}

const BySeed& Results::final_of(const std::string& agent, const std::string& metric) const {
  const Series* series = find(agent, metric);
  return series == nullptr ? kNone : series->last;
}

std::vector<std::uint64_t> Results::episodes(const std::string& agent,
                                             const std::string& metric) const {
  std::vector<std::uint64_t> out;
  if (const Series* series = find(agent, metric))
    for (const auto& [episode, seeds] : series->by_episode) out.push_back(episode);
  return out;
}

std::vector<std::uint64_t> Results::common_episodes(const std::string& agent,
                                                    const std::string& metric) const {
  std::vector<std::uint64_t> out;
  if (const Series* series = find(agent, metric))
    for (const auto& [episode, seeds] : series->by_episode)
      if (seeds.size() == series->last.size()) out.push_back(episode);
  return out;
}

std::optional<double> mean_of_problem(const Results& results, const std::string& metric) {
  const BySeed* most = nullptr;
  for (const std::string& agent : results.agents())
    if (const BySeed& known = results.final_of(agent, metric);
        !known.empty() && (most == nullptr || known.size() > most->size()))
      most = &known;
  if (most == nullptr) return std::nullopt;
  return summarise(values_of(*most)).mean;
}

std::string Results::config_of(const std::string& agent) const {
  const auto found = configs_.find(agent);
  return found == configs_.end() ? "" : found->second;
}

std::string Results::kind_of(const std::string& agent) const {
  return configuration_of(agent).value("agent.kind");
}

const Configuration& Results::configuration_of(const std::string& agent) const {
  static const Configuration kNothing;
  const auto found = configurations_.find(agent);
  return found == configurations_.end() ? kNothing : found->second;
}

std::string Results::title() const {
  return is_stand_in() ? experiment_ + " (stand-in data)" : experiment_;
}

bool Results::has_metric(const std::string& agent, const std::string& metric) const {
  return find(agent, metric) != nullptr;
}

std::vector<std::string> Results::metrics() const { return {metrics_.begin(), metrics_.end()}; }

std::vector<std::uint64_t> Results::seeds(const std::string& agent) const {
  std::vector<std::uint64_t> out;
  for (const auto& [seed, value] : final_of(agent, reward_metric())) out.push_back(seed);
  return out;
}

std::string Results::problem_kind() const {
  return agents_.empty() ? "" : configuration_of(agents_[0]).value("problem.kind");
}

bool Results::is_judged_by_mean_reward() const {
  const std::string kind = problem_kind();
  return is_registered(kind) && hilo::problem_kind(kind).judged_by_mean_reward;
}

bool Results::is_of_user() const {
  const std::string kind = problem_kind();
  return !kind.empty() && !is_registered(kind);
}

bool Results::has_vectors() const {
  const std::string problem = problem_kind();
  if (is_registered(problem) && hilo::problem_kind(problem).has_vectors({})) return true;
  return std::ranges::any_of(agents_, [&](const std::string& agent) {
    const std::string kind = kind_of(agent);
    return is_agent_kind(kind) && !agent_kind(kind).build;
  });
}

std::string Results::find_reward_metric() const {
  const bool tested = has_metric("test_reward") || !has_metric("train_reward");
  const std::string by_return = tested ? "test_return" : "train_return";
  const bool by_value =
      is_of_user() || (!is_judged_by_mean_reward() && !has_metric("policy_reward"));
  if (by_value && has_metric(by_return)) return by_return;
  return tested ? "test_reward" : "train_reward";
}

Summary Results::at(const std::string& agent, const std::string& metric,
                    std::uint64_t episode) const {
  return summarise(values_of(at_seeds(agent, metric, episode)));
}

Summary Results::paired_difference(const std::string& agent, const std::string& baseline,
                                   const std::string& metric) const {
  const BySeed& ours = final_of(agent, metric);
  const BySeed& theirs = final_of(baseline, metric);
  Moments differences;
  auto other = theirs.begin();
  for (const auto& [seed, value] : ours) {
    while (other != theirs.end() && other->first < seed) ++other;
    if (other != theirs.end() && other->first == seed) differences.add(value - other->second);
  }
  return summarise(differences);
}

std::string without_noise(const std::string& label, const std::string& snr_db) {
  const std::string part = fmt::format(" {}{} dB", snr_db[0] == '-' ? "" : "+", snr_db);
  std::string method = label;
  if (const std::size_t at = method.find(part); at != std::string::npos)
    method.erase(at, part.size());
  return method;
}

bool is_registered(const std::string& problem_kind) { return is_problem_kind(problem_kind); }

std::string baseline_of(const Results& results) {
  std::string found;
  for (const std::string& agent : results.agents())
    if (results.kind_of(agent) == kBaselineKind) {
      // Among several of the kind, the one with default parameters has the kind's plain name.
      if (agent == agent_kind(kBaselineKind).display) return agent;
      if (found.empty()) found = agent;
    }
  if (!found.empty()) return found;
  return results.agents().empty() ? "" : results.agents()[0];
}

}  // namespace hilo
