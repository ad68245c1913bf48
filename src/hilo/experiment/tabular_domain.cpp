#include "hilo/experiment/tabular_domain.hpp"

#include <cmath>

#include "hilo/core/error.hpp"
#include "hilo/exact/evaluate.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {

TabularDomain::TabularDomain(TabularAgent& agent, const EpisodeSimulator& high,
                             const TabularDomainOptions& options)
    : agent_(agent), high_(high), options_(options) {
  if (options.has_pilot) uniform_.emplace(high.num_states(), high.num_actions());
}

Behaviour TabularDomain::policy(const EpisodeRequest& request) const {
  if (const auto kept = kept_.find(request.number); kept != kept_.end())
    return {.heads = kept->second.heads,
            .ties = kept->second.ties,
            .num_actions = static_cast<std::uint32_t>(high_.num_actions()),
            .epsilon = kept->second.epsilon};
  return request.is_pilot ? uniform_->behaviour(1) : agent_.behaviour();
}

void TabularDomain::keep_policy(const EpisodeRequest& request) {
  const Behaviour now = policy(request);
  kept_[request.number] = {.heads = {now.heads.begin(), now.heads.end()},
                           .ties = {now.ties.begin(), now.ties.end()},
                           .epsilon = now.epsilon};
}

void TabularDomain::forget_policies_before(std::uint64_t number) {
  kept_.erase(kept_.begin(), kept_.lower_bound(number));
}

void TabularDomain::play(const EpisodeRequest& request) {
  high_.run_episode(policy(request), request.streams, request.horizon, episode_);
  if (episode_.length() == 0)
    throw Error(Errc::simulator, "the high fidelity gave an episode without a step");
  look_at(request.horizon.gamma);
}

void TabularDomain::take(const EpisodeRequest& request, const Episode& episode) {
  check_episode(episode, high_.num_states(), high_.num_actions());
  if (episode.length() == 0)
    throw Error(Errc::simulator, "an episode without a step teaches nothing");
  if (episode.length() > request.horizon.max_steps)
    throw Error(Errc::simulator, "the episode has more than max_steps steps");
  episode_ = episode;
  look_at(request.horizon.gamma);
}

void TabularDomain::look_at(double gamma) {
  double sum = 0;
  double discounted = 0;
  for (std::size_t t = episode_.length(); t-- > 0;) {
    sum += episode_.rewards[t];
    discounted = gamma * discounted + episode_.rewards[t];
  }
  facts_ = {.length = episode_.length(),
            .truncated = episode_.truncated,
            .mean_reward = sum / static_cast<double>(episode_.length()),
            .discounted_return = discounted};
}

LearnReport TabularDomain::learn() {
  if (options_.truncation == Truncation::terminal) episode_.truncated = false;
  const LearnReport report = agent_.learn(episode_);
  if (options_.observer != nullptr) options_.observer->see(episode_);
  if (options_.counts_starts || !has_model()) ++starts_[episode_.states.front()];
  return report;
}

TestFacts TabularDomain::test(const StreamAddress& streams, const Horizon& horizon,
                              std::uint32_t episodes) {
  summaries_.resize(episodes);
  high_.run_episodes(agent_.greedy(), streams, horizon, summaries_);
  return facts_of(summaries_);
}

std::vector<Fact> TabularDomain::exact_values(const Horizon& horizon) {
  const Model* model = high_.model();
  if (model == nullptr) return {};
  const PolicyMatrix policy = policy_matrix(agent_.greedy());
  const StartValues exact = evaluate_from_start(*model, policy, horizon.gamma, horizon.max_steps);
  std::vector<Fact> facts = {{"policy_value", exact.value}, {"policy_reward", exact.mean_reward}};
  if (options_.optimum != nullptr)
    facts.push_back(
        {"optimal_actions", share_of_optimal_actions(*model, *options_.optimum, policy)});
  for (Fact& fact : measured(Measured::at_exact_tests)) facts.push_back(std::move(fact));
  return facts;
}

// max_a Q(s, a), averaged over the states s that episodes have started in. Its variance is the sum
// of that of Q, as the agent estimates it, and that of the sampled start states:
//   var = sum_s w(s)^2 se(s)^2 + sum_s w(s) (v(s) - value)^2 / N
std::optional<OwnValue> TabularDomain::own_value() const {
  const auto n = static_cast<double>(agent_.episodes());
  double value = 0;
  double variance = 0;
  const auto best = [&](State s) { return agent_.q().greedy_actions(s)[0]; };
  for (const auto& [s, count] : starts_) {
    const double w = static_cast<double>(count) / n;
    const double error = agent_.standard_error(s, best(s));
    value += w * agent_.q()(s, best(s));
    variance += w * w * error * error;
  }
  for (const auto& [s, count] : starts_) {
    const double difference = agent_.q()(s, best(s)) - value;
    variance += static_cast<double>(count) / n * difference * difference / n;
  }
  if (starts_.empty() || !std::isfinite(value)) return std::nullopt;
  return OwnValue{value, std::isfinite(variance) ? std::sqrt(variance) : INFINITY};
}

// The current values of the user-defined metrics.
std::vector<Fact> TabularDomain::measured(Measured when) const {
  std::vector<Fact> facts;
  for (const MetricKind& metric : options_.metrics)
    if (metric.measured == when)
      if (const auto value = metric.measure({agent_, high_, options_.horizon});
          value && std::isfinite(*value))
        facts.push_back({metric.name, *value});
  return facts;
}

std::vector<Fact> TabularDomain::observed_at_test() {
  std::vector<Fact> facts =
      options_.observer != nullptr ? options_.observer->at_test() : std::vector<Fact>();
  for (Fact& fact : measured(Measured::at_tests)) facts.push_back(std::move(fact));
  return facts;
}

std::vector<Fact> TabularDomain::observed_at_end() {
  std::vector<Fact> facts =
      options_.observer != nullptr ? options_.observer->at_end() : std::vector<Fact>();
  for (Fact& fact : measured(Measured::at_end)) facts.push_back(std::move(fact));
  return facts;
}

void TabularDomain::save(ArchiveWriter& out) const {
  out.array<std::byte>(agent_.save());
  out.value(static_cast<std::uint64_t>(starts_.size()));
  for (const auto& [s, count] : starts_) {
    out.value(s);
    out.value(count);
  }
  out.value(static_cast<std::uint64_t>(kept_.size()));
  for (const auto& [number, policy] : kept_) {
    out.value(number);
    out.array<GreedyHead>(policy.heads);
    out.array<Action>(policy.ties);
    out.value(policy.epsilon);
  }
  out.value(options_.observer != nullptr);
  if (options_.observer != nullptr) options_.observer->save(out);
}

void TabularDomain::load(ArchiveReader& in) {
  const auto agent = in.list<std::byte>("agent", kAnyLength);
  std::map<State, std::uint64_t> starts;
  const auto num_starts = in.value<std::uint64_t>();
  for (std::uint64_t i = 0; i < num_starts; ++i) {
    const auto s = in.value<State>();
    if (s >= high_.num_states()) ArchiveReader::mismatch("number of states");
    starts[s] = in.value<std::uint64_t>();
  }
  std::map<std::uint64_t, KeptPolicy> kept = load_kept(in);
  if (in.flag("observer") != (options_.observer != nullptr)) ArchiveReader::mismatch("observer");
  if (options_.observer != nullptr) options_.observer->load(in);
  agent_.load(agent);
  starts_ = std::move(starts);
  kept_ = std::move(kept);
}

std::map<std::uint64_t, TabularDomain::KeptPolicy> TabularDomain::load_kept(
    ArchiveReader& in) const {
  const std::size_t num_states = high_.num_states();
  const std::size_t num_actions = high_.num_actions();
  std::map<std::uint64_t, KeptPolicy> kept;
  const auto count = in.value<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto number = in.value<std::uint64_t>();
    KeptPolicy policy;
    policy.heads = in.list<GreedyHead>("kept policy", num_states);
    policy.ties = in.list<Action>("kept policy", num_states * num_actions);
    policy.epsilon = in.value<double>();
    if (policy.heads.size() != num_states || policy.ties.size() != num_states * num_actions)
      ArchiveReader::mismatch("kept policy");
    for (const GreedyHead& head : policy.heads)
      if (head.count == 0 || head.count > num_actions || head.first >= num_actions)
        ArchiveReader::mismatch("kept policy");
    for (const Action a : policy.ties)
      if (a >= num_actions) ArchiveReader::mismatch("kept policy");
    kept[number] = std::move(policy);
  }
  return kept;
}

}  // namespace hilo
