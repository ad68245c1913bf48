#include "hilo/agent/mfmcrl.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"
#include "hilo/estimator/control_variate.hpp"
#include "hilo/rollout/returns.hpp"
#include "hilo/rollout/shadow.hpp"

namespace hilo {
namespace {

constexpr std::uint32_t kRolloutsAtOnce = 4096;

}  // namespace

LowBehaviour low_behaviour_from_name(std::string_view name) {
  if (name == name_of(LowBehaviour::policy)) return LowBehaviour::policy;
  if (name == name_of(LowBehaviour::action_0)) return LowBehaviour::action_0;
  throw Error(Errc::spec, fmt::format("low_policy is '{}', but must be policy or action-0", name));
}

Pool pool_from_name(std::string_view name) {
  if (name == name_of(Pool::start_pairs)) return Pool::start_pairs;
  if (name == name_of(Pool::first_visits)) return Pool::first_visits;
  throw Error(Errc::spec,
              fmt::format("pool is '{}', but must be start-pairs or first-visits", name));
}

std::string_view name_of(LowBehaviour low_behaviour) {
  return low_behaviour == LowBehaviour::policy ? "policy" : "action-0";
}

std::string_view name_of(Pool pool) {
  return pool == Pool::start_pairs ? "start-pairs" : "first-visits";
}

Variant variant_from_name(std::string_view name) {
  if (name == "as-written") return kAsWritten;
  if (name == "as-published") return kAsPublished;
  throw Error(Errc::spec,
              fmt::format("variant is '{}', but must be as-written or as-published", name));
}

Mfmcrl::Mfmcrl(FidelityPair pair, const MfmcrlOptions& options, std::uint64_t seed)
    : pair_(std::move(pair)),
      options_(options),
      seed_(seed),
      q_(pair_.high().num_states(), pair_.num_actions()),
      paired_(pair_.high().num_states() * pair_.num_actions()),
      free_pool_(pair_.low().num_states() * pair_.num_actions()),
      path_pool_(free_pool_.size()),
      low_policy_(pair_.map(), pair_.num_actions()),
      action_0_(pair_.low().num_states(), pair_.num_actions(), 0),
      high_visits_(pair_.high().num_states(), pair_.num_actions()),
      low_visits_(pair_.low().num_states(), pair_.num_actions()),
      new_returns_(free_pool_.size()) {
  require_within("gamma", options.gamma, 0, 1);
  require_within("epsilon", options.epsilon, 0, 1);
  require_within("low_rollouts", std::uint64_t{options.low_rollouts}, 1, 1'000'000);
  require_within("max_steps", std::uint64_t{options.max_steps}, 1, kMaxSteps);
}

// Algorithm 1, one turn of its outer loop. Lines 2 and 3, the loop and the high-fidelity episode,
// are the caller's.
LearnReport Mfmcrl::learn(const Episode& episode) {
  check_episode(episode, q_.num_states(), q_.num_actions());
  LearnReport report;

  // [l. 4] tau_lo: the episode mapped by T, with low-fidelity rewards
  shadow(pair_, episode, low_);
  pool_path_returns();

  // [l. 5] m more returns for every (s_lo, a) in tau_lo, appended to RetsLP
  if (options_.pool == Pool::start_pairs)
    sample_start_pairs(report);
  else
    sample_first_visits(report);

  // [l. 6-20] backwards through the episode
  update_values(episode, report);
  ++episodes_;
  return report;
}

// The text takes the population mean over m + n returns: the n along the high-fidelity episodes
// belong to it. Also collects the distinct pairs of tau_lo.
void Mfmcrl::pool_path_returns() {
  discounted_returns(low_.rewards, options_.gamma, returns_);
  starts_.clear();
  for (const std::uint32_t t : low_visits_.find(low_)) {
    starts_.push_back({low_.states[t], low_.actions[t]});
    path_pool_[index(low_.states[t], low_.actions[t])].add(returns_[t]);
  }
}

Behaviour Mfmcrl::low_behaviour() const {
  return options_.low_policy == LowBehaviour::policy ? low_policy_.q().behaviour(options_.epsilon)
                                                     : action_0_.behaviour(options_.epsilon);
}

RolloutBatch Mfmcrl::low_batch() const {
  return {.behaviour = low_behaviour(),
          .seed = seed_,
          .purpose = Purpose::low_rollout,
          .episode = static_cast<std::uint32_t>(episodes_),
          .gamma = options_.gamma,
          .max_steps = options_.max_steps};
}

// All at once, or in parts where that would make memory grow with m.
void Mfmcrl::sample_start_pairs(LearnReport& report) {
  RolloutBatch batch = low_batch();
  const std::uint32_t m = options_.low_rollouts;
  if (starts_.size() * m <= kRolloutsAtOnce) {
    sample_part(batch, starts_, m, report);
    return;
  }
  for (std::uint32_t i = 0; i < starts_.size(); ++i)
    for (std::uint32_t done = 0; done < m; done += kRolloutsAtOnce) {
      batch.first_pair = i;
      batch.first_rollout = done;
      sample_part(batch, {&starts_[i], 1}, std::min(m - done, kRolloutsAtOnce), report);
    }
}

void Mfmcrl::sample_part(const RolloutBatch& batch, std::span<const StateAction> starts,
                         std::uint32_t rollouts, LearnReport& report) {
  summaries_.resize(starts.size() * rollouts);
  pair_.low().roll_out(batch, starts, rollouts, summaries_);
  const RolloutSummary* summary = summaries_.data();
  for (const auto [s_lo, a] : starts)
    for (std::uint32_t j = 0; j < rollouts; ++j, ++summary) {
      if (summary->steps > 0) free_pool_[index(s_lo, a)].add(summary->discounted_return);
      report.low_steps += summary->steps;
      report.truncated_rollouts += summary->truncated ? 1 : 0;
    }
}

void Mfmcrl::sample_first_visits(LearnReport& report) {
  RolloutBatch batch = low_batch();
  for (const auto [s_lo, a] : starts_) new_returns_[index(s_lo, a)] = 0;
  for (std::uint32_t i = 0; i < starts_.size(); ++i) {
    const auto [s_lo, a] = starts_[i];
    if (pair_.low().is_terminal(s_lo)) continue;
    batch.first_pair = i;
    for (std::uint32_t j = 0; new_returns_[index(s_lo, a)] < options_.low_rollouts; ++j) {
      batch.first_rollout = j;
      pair_.low().record(batch, starts_[i], rollout_);
      check_rollout(starts_[i]);
      pool_first_visits_of_rollout();
      report.low_steps += rollout_.length();
      report.truncated_rollouts += rollout_.truncated ? 1 : 0;
    }
  }
}

// Any simulator may stand behind the interface; one that ignores where to start would never fill
// the pool of the pair.
void Mfmcrl::check_rollout(StateAction start) const {
  check_episode(rollout_, pair_.low().num_states(), pair_.num_actions());
  if (rollout_.length() == 0 || rollout_.states[0] != start.state ||
      rollout_.actions[0] != start.action)
    throw Error(Errc::simulator,
                fmt::format("low fidelity: asked to start at state {}, action {}, it started "
                            "elsewhere",
                            start.state, start.action));
}

void Mfmcrl::pool_first_visits_of_rollout() {
  discounted_returns(rollout_.rewards, options_.gamma, returns_);
  for (const std::uint32_t t : low_visits_.find(rollout_)) {
    const std::size_t visited = index(rollout_.states[t], rollout_.actions[t]);
    free_pool_[visited].add(returns_[t]);
    ++new_returns_[visited];
  }
}

double Mfmcrl::pool_mean(State s_lo, Action a) const {
  const Moments& free = free_pool(s_lo, a);
  const Moments& path = path_pool(s_lo, a);
  const auto num_free = static_cast<double>(free.count());
  const auto num_path = static_cast<double>(path.count());
  if (num_free + num_path == 0) return 0;
  return (num_free * free.mean() + num_path * path.mean()) / (num_free + num_path);
}

void Mfmcrl::update_values(const Episode& high, LearnReport& report) {
  auto first_visits = high_visits_.find(high);
  double ratio_sum = 0;

  double g_hi = 0;  // [l. 6]
  double g_lo = 0;
  for (std::size_t t = high.length(); t-- > 0;) {                    // [l. 7]
    g_hi = options_.gamma * g_hi + high.rewards[t];                  // [l. 8]
    g_lo = options_.gamma * g_lo + low_.rewards[t];                  // [l. 9]
    if (first_visits.empty() || first_visits.back() != t) continue;  // [l. 10]
    first_visits = first_visits.first(first_visits.size() - 1);

    const State s = high.states[t];
    const Action a = high.actions[t];
    CoMoments& returns = paired_[index(s, a)];
    returns.add(g_hi, g_lo);  // [l. 11-12]

    // [l. 13-18] Q <- E[G_hi] + alpha (mean[RetsLP] - E[G_lo]),  alpha = rho sigma_hi / sigma_lo
    const ControlVariate cv = control_variate(returns, pool_mean(low_.states[t], a));
    ratio_sum += cv.variance_ratio;
    if (cv.alpha != 0) {
      report.correlation_sum += cv.correlation();
      ++report.corrected;
    }

    // [l. 19-20] the Q table keeps its greedy actions, so that pi is epsilon-greedy at once
    q_.set(s, a, cv.value);
    low_policy_.update(pair_.map(), q_, s, a);
  }
  const std::size_t num_updated = high_visits_.size();
  if (num_updated > 0) report.variance_ratio = ratio_sum / static_cast<double>(num_updated);
}

std::vector<std::byte> Mfmcrl::save() const {
  ArchiveWriter out("mfmcrl", kAlgorithmVersion);
  out.value(options_.gamma);
  out.value(options_.epsilon);
  out.value(options_.low_rollouts);
  out.value(options_.low_policy);
  out.value(options_.pool);
  out.value(options_.max_steps);
  out.value(seed_);
  out.value(static_cast<std::uint64_t>(q_.num_states()));
  out.value(static_cast<std::uint64_t>(q_.num_actions()));
  out.value(static_cast<std::uint64_t>(pair_.low().num_states()));
  out.value(episodes_);
  out.array<double>(q_.values());
  out.array<CoMoments>(paired_);
  out.array<Moments>(free_pool_);
  out.array<Moments>(path_pool_);
  return out.finish();
}

void Mfmcrl::load(std::span<const std::byte> bytes) {
  Mfmcrl loaded = *this;
  ArchiveReader in(bytes, "mfmcrl", kAlgorithmVersion);
  in.expect("gamma", options_.gamma);
  in.expect("epsilon", options_.epsilon);
  in.expect("low_rollouts", options_.low_rollouts);
  in.expect("low_policy", options_.low_policy);
  in.expect("pool", options_.pool);
  in.expect("max_steps", options_.max_steps);
  in.expect("seed", seed_);
  in.expect("number of states", static_cast<std::uint64_t>(q_.num_states()));
  in.expect("number of actions", static_cast<std::uint64_t>(q_.num_actions()));
  in.expect("number of low-fidelity states", static_cast<std::uint64_t>(pair_.low().num_states()));
  loaded.episodes_ = in.value<std::uint64_t>();
  std::vector<double> q(q_.values().size());
  in.array<double>("number of Q values", q);
  in.array<CoMoments>("number of paired returns", loaded.paired_);
  in.array<Moments>("number of pooled returns", loaded.free_pool_);
  in.array<Moments>("number of pooled returns", loaded.path_pool_);
  in.finish();
  loaded.q_.assign(q);
  loaded.low_policy_.update_all(pair_.map(), loaded.q_);
  *this = std::move(loaded);
}

}  // namespace hilo
