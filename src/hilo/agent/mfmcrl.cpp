#include "hilo/agent/mfmcrl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hilo/core/archive.hpp"
#include "hilo/core/error.hpp"
#include "hilo/estimator/paper.hpp"
#include "hilo/rollout/check_episode.hpp"
#include "hilo/rollout/returns.hpp"
#include "hilo/rollout/shadow.hpp"

namespace hilo {
namespace {

constexpr std::uint32_t kRolloutsAtOnce = 4096;

}  // namespace

Mfmcrl::Mfmcrl(Fidelities pair, const MfmcrlOptions& options, std::uint64_t seed)
    : pair_(std::move(pair)),
      options_(options),
      seed_(seed),
      explores_(
          chance_of_uniform_action(options.exploration, options.epsilon, pair_.num_actions())),
      q_(pair_.high().num_states(), pair_.num_actions()),
      paired_(pair_.high().num_states() * pair_.num_actions()),
      free_pool_(pair_.low().num_states() * pair_.num_actions()),
      path_pool_(free_pool_.size()),
      estimator_(make_estimator(options.estimator, paired_.size())),
      low_policy_(pair_.map(), pair_.num_actions()),
      action_0_(pair_.low().num_states(), pair_.num_actions(), 0),
      high_visits_(pair_.high().num_states(), pair_.num_actions()),
      low_visits_(pair_.low().num_states(), pair_.num_actions()),
      new_returns_(free_pool_.size()) {
  require_within("gamma", options.gamma, 0, 1);
  require_within("epsilon", options.epsilon, 0, 1);
  require_within("low_rollouts", std::uint64_t{options.low_rollouts}, 1, 1'000'000);
  // Coupled roll-outs start at up to step max_steps of their stream.
  const bool late = options.coupling == Coupling::common_random_numbers;
  require_within("max_steps", std::uint64_t{options.max_steps}, 1,
                 late ? kMaxSteps / 2 : kMaxSteps);
  require_within("recency", options.recency, 1, 100);
  if (options.coupling == Coupling::path && !pair_.low().tells_rewards())
    throw Error(
        Errc::spec,
        "coupling is 'path', but the cheap simulator does not tell the reward of a step that "
        "was taken elsewhere (a program: it answers 'reward' by an error); make it answer, "
        "or set coupling = \"none\", or take an agent such as bayes");
}

Mfmcrl::Mfmcrl(const Mfmcrl& other)
    : TabularAgent(other),
      pair_(other.pair_),
      options_(other.options_),
      seed_(other.seed_),
      explores_(other.explores_),
      q_(other.q_),
      paired_(other.paired_),
      free_pool_(other.free_pool_),
      path_pool_(other.path_pool_),
      estimator_(other.estimator_->clone()),
      episodes_(other.episodes_),
      cut_in_a_row_(other.cut_in_a_row_),
      low_policy_(other.low_policy_),
      action_0_(other.action_0_),
      high_visits_(other.high_visits_),
      low_visits_(other.low_visits_),
      new_returns_(other.new_returns_) {}

// One iteration of the outer loop of Algorithm 1. Lines 2 and 3, the loop and the high-fidelity
// episode, are left to the caller.
LearnReport Mfmcrl::learn(const Episode& episode) {
  check_episode(episode, q_.num_states(), q_.num_actions());
  LearnReport report;
  if (episode.truncated) {
    ++episodes_;
    ++cut_in_a_row_;
    report.dropped = true;
    return report;
  }

  // [l. 4] tau_lo: the episode mapped by T, with low-fidelity rewards
  shadow(pair_, episode, low_);
  discounted_returns(low_.rewards, options_.gamma, low_returns_);
  pool_path_returns();
  if (options_.coupling != Coupling::path) pair_with_rollouts(episode, report);

  // [l. 5] m more returns for every (s_lo, a) in tau_lo, appended to RetsLP
  if (options_.pool == Pool::start_pairs)
    sample_start_pairs(report);
  else
    sample_paths(report);

  // [l. 6-20] backwards through the episode
  update_values(episode, report);
  ++episodes_;
  cut_in_a_row_ = 0;
  return report;
}

// The paper takes the population mean over m + n returns, so that the n returns along the
// high-fidelity episodes belong to it. This also collects the distinct pairs of tau_lo.
void Mfmcrl::pool_path_returns() {
  starts_.clear();
  for (const std::uint32_t t : low_visits_.find(low_)) {
    starts_.push_back({low_.states[t], low_.actions[t]});
    if (options_.coupling == Coupling::path)
      path_pool_[index(low_.states[t], low_.actions[t])].add(low_returns_[t], options_.recency);
  }
}

// Replaces the returns along the path by one low-fidelity roll-out for each first visit of a
// high-fidelity pair. With common random numbers, the k-th step of the roll-out draws from the
// words of the (t + k)-th step of the episode.
void Mfmcrl::pair_with_rollouts(const Episode& high, LearnReport& report) {
  const Behaviour policy = low_behaviour();
  StreamAddress streams = low_streams();
  std::uint32_t visit = 0;
  for (const std::uint32_t t : high_visits_.find(high)) {
    const StateAction start = {low_.states[t], low_.actions[t]};
    if (options_.coupling == Coupling::common_random_numbers) {
      streams.purpose = Purpose::high_episode;
      streams.first_step = t;
    } else {
      streams.purpose = Purpose::uncoupled;
      streams.first_pair = visit++;
    }
    RolloutSummary summary;
    pair_.low().roll_out(policy, streams, horizon(), {&start, 1}, 1, {&summary, 1});
    low_returns_[t] = summary.discounted_return;
    if (summary.steps > 0)
      path_pool_[index(start.state, start.action)].add(low_returns_[t], options_.recency);
    report.low_steps += summary.steps;
    report.truncated_rollouts += summary.truncated ? 1 : 0;
  }
}

// The roll-outs must follow the same policy as the episode that they are compared with.
Behaviour Mfmcrl::low_behaviour() const {
  if (episodes_ < options_.pilot_episodes) return low_policy_.q().behaviour(1);
  return options_.low_policy == LowBehaviour::policy ? low_policy_.q().behaviour(explores())
                                                     : action_0_.behaviour(explores());
}

StreamAddress Mfmcrl::low_streams() const {
  return {.seed = seed_,
          .purpose = Purpose::low_rollout,
          .episode = static_cast<std::uint32_t>(episodes_)};
}

// All roll-outs run at once, or in parts where memory would otherwise grow with m.
void Mfmcrl::sample_start_pairs(LearnReport& report) {
  StreamAddress streams = low_streams();
  const std::uint32_t m = options_.low_rollouts;
  if (starts_.size() * m <= kRolloutsAtOnce) {
    sample_part(streams, starts_, m, report);
    return;
  }
  for (std::uint32_t i = 0; i < starts_.size(); ++i)
    for (std::uint32_t done = 0; done < m; done += kRolloutsAtOnce) {
      streams.first_pair = i;
      streams.first_rollout = done;
      sample_part(streams, {&starts_[i], 1}, std::min(m - done, kRolloutsAtOnce), report);
    }
}

void Mfmcrl::sample_part(const StreamAddress& streams, std::span<const StateAction> starts,
                         std::uint32_t rollouts, LearnReport& report) {
  summaries_.resize(starts.size() * rollouts);
  pair_.low().roll_out(low_behaviour(), streams, horizon(), starts, rollouts, summaries_);
  // The pairs are in the inner loop, so that successive additions go to different pools and need
  // not wait for each other. Pairs are distinct, so every pool still gets its returns in the order
  // of the roll-outs.
  const std::size_t num_starts = starts.size();
  const bool drops_cut = drops_cut_returns();
  pools_.clear();
  for (const auto [s_lo, a] : starts) pools_.push_back(&free_pool_[index(s_lo, a)]);
  for (std::uint32_t j = 0; j < rollouts; ++j)
    for (std::size_t i = 0; i < num_starts; ++i) {
      const RolloutSummary& summary = summaries_[i * rollouts + j];
      if (summary.steps > 0 && !(summary.truncated && drops_cut))
        pools_[i]->add(summary.discounted_return, options_.recency);
      report.low_steps += summary.steps;
      report.truncated_rollouts += summary.truncated ? 1 : 0;
    }
}

// Collects the roll-outs from the distinct pairs of tau_lo: m for each pair, or until it has m new
// returns.
class Mfmcrl::PathPool final : public PathVisitor {
 public:
  PathPool(Mfmcrl& agent, LearnReport& report) : agent_(agent), report_(report) {
    for (const auto [s_lo, a] : agent.starts_) agent.new_returns_[agent.index(s_lo, a)] = 0;
  }

  std::uint32_t wanted(std::size_t i) const override {
    const auto [s_lo, a] = agent_.starts_[i];
    if (agent_.pair_.low().is_terminal(s_lo)) return 0;
    const std::uint32_t m = agent_.options_.low_rollouts;
    const bool begun = i == current_;
    if (agent_.options_.pool != Pool::first_visits) return m - (begun ? num_seen_ : 0);
    // All roll-outs may be cut, so that the pair would never have m returns.
    if (begun && num_dropped_ == m) return 0;
    const std::uint32_t new_returns = agent_.new_returns_[agent_.index(s_lo, a)];
    return new_returns < m ? m - new_returns : 0;
  }

  void see(std::size_t i, const Episode& rollout) override {
    if (i != current_) {
      current_ = i;
      num_seen_ = num_dropped_ = 0;
    }
    check_episode(rollout, agent_.pair_.low().num_states(), agent_.pair_.num_actions());
    check_started_at(rollout, agent_.starts_[i]);
    report_.low_steps += rollout.length();
    report_.truncated_rollouts += rollout.truncated ? 1 : 0;
    ++num_seen_;
    if (rollout.truncated && agent_.drops_cut_returns())
      ++num_dropped_;
    else
      agent_.pool_first_visits(rollout);
  }

 private:
  Mfmcrl& agent_;
  LearnReport& report_;
  std::size_t current_ = std::numeric_limits<std::size_t>::max();  // the current pair
  std::uint32_t num_seen_ = 0, num_dropped_ = 0;                   // roll-outs of that pair
};

void Mfmcrl::sample_paths(LearnReport& report) {
  PathPool pool(*this, report);
  pair_.low().record_paths(low_behaviour(), low_streams(), horizon(), starts_, pool);
}

void Mfmcrl::pool_first_visits(const Episode& rollout) {
  discounted_returns(rollout.rewards, options_.gamma, returns_);
  for (const std::uint32_t t : low_visits_.find(rollout)) {
    const std::size_t visited = index(rollout.states[t], rollout.actions[t]);
    free_pool_[visited].add(returns_[t], options_.recency);
    ++new_returns_[visited];
  }
}

double Mfmcrl::pool_mean(State s_lo, Action a) const {
  return PaperEstimator::population_mean({CoMoments(), free_pool(s_lo, a), path_pool(s_lo, a)});
}

Evidence Mfmcrl::evidence(State s, Action a) const {
  const std::size_t low = index(pair_.map().low_of(s), a);
  return {paired_[index(s, a)], free_pool_[low], path_pool_[low]};
}

double Mfmcrl::standard_error(State s, Action a) const {
  return estimator_->estimate(evidence(s, a)).standard_error;
}

std::vector<Fact> Mfmcrl::findings() const {
  if (options_.estimator.name == "paper") return {};
  const PooledFindings found = estimator_->findings();
  return {{"pooled_alpha", found.alpha},
          {"bias_offset", found.bias_offset},
          {"bias_spread", found.bias_spread}};
}

void Mfmcrl::update_values(const Episode& high, LearnReport& report) {
  auto first_visits = high_visits_.find(high);
  double ratio_sum = 0;

  double g_hi = 0;                                                   // [l. 6]
  for (std::size_t t = high.length(); t-- > 0;) {                    // [l. 7]
    g_hi = options_.gamma * g_hi + high.rewards[t];                  // [l. 8]
    if (first_visits.empty() || first_visits.back() != t) continue;  // [l. 10]
    first_visits = first_visits.first(first_visits.size() - 1);

    const State s = high.states[t];
    const Action a = high.actions[t];
    paired_[index(s, a)].add(g_hi, low_returns_[t], options_.recency);  // [l. 9, 11, 12]

    // [l. 13-18] Q(s, a) from RetsH, RetsL and RetsLP
    estimator_->update(index(s, a), evidence(s, a));
    const CorrectedEstimate estimate = estimator_->estimate_quickly(evidence(s, a));
    ratio_sum += estimate.variance_ratio;
    if (estimate.corrected) {
      report.correlation_sum += estimate.correlation;
      ++report.corrected;
    }

    // [l. 19-20] the Q table keeps its greedy actions up to date, so that pi is epsilon-greedy in Q
    q_.set(s, a, estimate.value);
    low_policy_.update(pair_.map(), q_, s, a);
  }
  estimator_->end_episode();
  const std::size_t num_updated = high_visits_.size();
  if (num_updated > 0) report.variance_ratio = ratio_sum / static_cast<double>(num_updated);
}

std::vector<std::byte> Mfmcrl::save() const {
  ArchiveWriter out("mfmcrl", kArchiveVersion);
  out.value(options_.gamma);
  out.value(options_.epsilon);
  out.value(options_.low_rollouts);
  out.value(options_.low_policy);
  out.value(options_.pool);
  out.value(options_.max_steps);
  out.value(options_.truncation);
  out.value(options_.recency);
  out.value(options_.coupling);
  out.value(options_.exploration);
  out.value(options_.pilot_episodes);
  out.value(options_.estimator.alpha);
  out.array<char>(options_.estimator.name);
  out.value(seed_);
  out.value(static_cast<std::uint64_t>(q_.num_states()));
  out.value(static_cast<std::uint64_t>(q_.num_actions()));
  out.value(static_cast<std::uint64_t>(pair_.low().num_states()));
  out.value(episodes_);
  out.value(cut_in_a_row_);
  out.array<double>(q_.values());
  out.array<CoMoments>(paired_);
  out.array<Moments>(free_pool_);
  out.array<Moments>(path_pool_);
  estimator_->save(out);
  return out.finish();
}

void Mfmcrl::load(std::span<const std::byte> bytes) {
  Mfmcrl loaded = *this;
  ArchiveReader in(bytes, "mfmcrl", kArchiveVersion);
  in.expect("gamma", options_.gamma);
  in.expect("epsilon", options_.epsilon);
  in.expect("low_rollouts", options_.low_rollouts);
  in.expect("low_policy", options_.low_policy);
  in.expect("pool", options_.pool);
  in.expect("max_steps", options_.max_steps);
  in.expect("truncation", options_.truncation);
  in.expect("recency", options_.recency);
  in.expect("coupling", options_.coupling);
  in.expect("exploration", options_.exploration);
  in.expect("pilot_episodes", options_.pilot_episodes);
  in.expect("alpha", options_.estimator.alpha);
  std::string name = options_.estimator.name;
  in.array<char>("estimator", name);
  if (name != options_.estimator.name)
    throw Error(Errc::data, fmt::format("saved state: its estimator is '{}', not '{}'", name,
                                        options_.estimator.name));
  in.expect("seed", seed_);
  in.expect("number of states", static_cast<std::uint64_t>(q_.num_states()));
  in.expect("number of actions", static_cast<std::uint64_t>(q_.num_actions()));
  in.expect("number of low-fidelity states", static_cast<std::uint64_t>(pair_.low().num_states()));
  loaded.episodes_ = in.value<std::uint64_t>();
  loaded.cut_in_a_row_ = in.value<std::uint64_t>();
  std::vector<double> q(q_.values().size());
  in.array<double>("number of Q values", q);
  in.array<CoMoments>("number of paired returns", loaded.paired_);
  in.array<Moments>("number of pooled returns", loaded.free_pool_);
  in.array<Moments>("number of pooled returns", loaded.path_pool_);
  loaded.estimator_->load(in);
  in.finish();
  loaded.q_.assign(q);
  loaded.low_policy_.update_all(pair_.map(), loaded.q_);
  *this = std::move(loaded);
}

}  // namespace hilo
