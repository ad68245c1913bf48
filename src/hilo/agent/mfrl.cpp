#include "hilo/agent/mfrl.hpp"

#include <algorithm>
#include <limits>

#include "hilo/core/error.hpp"
#include "hilo/rollout/shadow.hpp"

namespace hilo {

Mfrl::Mfrl(std::size_t num_states, std::size_t num_actions, std::vector<LowFidelity> chain,
           const MfrlOptions& options, std::uint64_t seed)
    : chain_(std::move(chain)), options_(options), seed_(seed) {
  require_within("low_known_after", std::uint64_t{options.low_known_after}, 1, 1'000'000);
  require_within("beta", options.beta, 0, 1e9);
  require_within("known_steps", std::uint64_t{options.known_steps}, 1, 1'000'000'000);
  require_within("unknown_pairs", std::uint64_t{options.unknown_pairs}, 1, 1'000'000'000);
  require_within("low_steps", options.low_steps, 1, 1'000'000'000'000);
  require_within("max_steps", std::uint64_t{options.max_steps}, 1, kMaxSteps);
  levels_.emplace_back(num_states, num_actions, options.model);
  KnownModelOptions below = options.model;
  below.known_after = options.low_known_after;
  for (const LowFidelity& link : chain_) {
    if (link.simulator->num_actions() != num_actions ||
        link.map->num_high_states() != levels_.back().optimistic().num_states() ||
        link.map->num_low_states() != link.simulator->num_states())
      throw Error(Errc::usage, "a chain of simulators needs maps that fit, and the same actions");
    levels_.emplace_back(link.simulator->num_states(), num_actions, below);
  }
  betas_.assign(chain_.size(), options.beta);
  open_.resize(levels_.size());
}

LearnReport Mfrl::prepare() {
  LearnReport report;
  if (prepared_) return report;
  prepared_ = true;
  // Up from the cheapest simulator, level by level.
  for (std::size_t d = chain_.size(); d > 0; --d) learn_below(d, report);
  return report;
}

LearnReport Mfrl::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  LearnReport report = prepare();
  std::uint64_t known_in_a_row = 0;  // of no use up here
  take_in(0, episode, known_in_a_row);
  ++episodes_;
  if (!chain_.empty() && open_[0].size() >= options_.unknown_pairs) learn_below(1, report);
  if (!levels_[0].plan_is_stale()) return report;
  if (options_.estimate_beta && !chain_.empty())
    hand_up(1);
  else
    levels_[0].plan();
  return report;
}

// Counts an episode at level d. Collects pairs that are known neither here nor below, and counts
// steps through known ones.
void Mfrl::take_in(std::size_t d, const Episode& episode, std::uint64_t& known_in_a_row) {
  for (std::size_t t = 0; t < episode.length(); ++t) {
    const State s = episode.states[t];
    const Action a = episode.actions[t];
    const bool was_known = levels_[d].known(s, a);
    known_in_a_row = was_known ? known_in_a_row + 1 : 0;
    if (!was_known && d < chain_.size()) {
      const State below = chain_[d].map->low_of(s);
      if (!levels_[d + 1].known(below, a) && !chain_[d].simulator->is_terminal(below))
        open_[d].push_back({below, a});
    }
    levels_[d].observe(s, a, episode.rewards[t], episode.states[t + 1], episode.ends_at(t));
  }
}

void Mfrl::learn_below(std::size_t d, LearnReport& report) {
  std::uint64_t known_in_a_row = 0;
  // First where the level above met the unknown.
  const std::vector<StateAction> starts = std::move(open_[d - 1]);
  open_[d - 1].clear();
  for (const StateAction& start : starts)
    for (std::uint32_t k = 0; k < options_.low_known_after; ++k) {
      if (levels_[d].known(start.state, start.action) || low_steps_ >= options_.low_steps) break;
      run_below(d, &start, known_in_a_row, report);
    }
  while (known_in_a_row < options_.known_steps && low_steps_ < options_.low_steps) {
    run_below(d, nullptr, known_in_a_row, report);
    if (d < chain_.size() && open_[d].size() >= options_.unknown_pairs) learn_below(d + 1, report);
  }
  hand_up(d);
}

// One episode of simulator d, from a pair or from its own start.
void Mfrl::run_below(std::size_t d, const StateAction* start, std::uint64_t& known_in_a_row,
                     LearnReport& report) {
  const Simulator& simulator = *chain_[d - 1].simulator;
  const Behaviour policy = levels_[d].optimistic().behaviour(0);
  const StreamAddress streams = {.seed = seed_,
                                 .purpose = Purpose::low_rollout,
                                 .episode = static_cast<std::uint32_t>(low_episodes_++),
                                 .first_pair = static_cast<std::uint32_t>(d)};
  const Horizon horizon = {.gamma = options_.model.gamma, .max_steps = options_.max_steps};
  if (start != nullptr)
    simulator.record(policy, streams, horizon, *start, low_);
  else
    simulator.run_episode(policy, streams, horizon, low_);
  check_episode(low_, simulator.num_states(), simulator.num_actions());
  if (start != nullptr) check_started_at(low_, *start);
  if (low_.length() == 0)
    throw Error(Errc::simulator, "the low fidelity gave an episode without a step");
  low_steps_ += low_.length();
  report.low_steps += low_.length();
  report.truncated_rollouts += low_.truncated ? 1 : 0;
  take_in(d, low_, known_in_a_row);
  if (levels_[d].plan_is_stale()) levels_[d].plan();
}

// U(s, a) = min(value_max, Q_d(T(s), a) + beta) for the level above, and its plan.
void Mfrl::hand_up(std::size_t d) {
  KnownModel& above = levels_[d - 1];
  const QTable& q = levels_[d].optimistic();
  const StateMap& map = *chain_[d - 1].map;
  double& beta = betas_[d - 1];
  if (options_.estimate_beta) beta = std::max(options_.beta, above.largest_excess(q, map));
  for (State s = 0; s < map.num_high_states(); ++s)
    for (Action a = 0; a < q.num_actions(); ++a) above.bound(s, a, q(map.low_of(s), a) + beta);
  above.plan();
}

double Mfrl::standard_error(State /*s*/, Action /*a*/) const {
  return std::numeric_limits<double>::infinity();
}

std::vector<Fact> Mfrl::findings() const {
  std::vector<Fact> facts = {{"known_pairs", static_cast<double>(levels_[0].num_known())}};
  if (!chain_.empty()) {
    facts.push_back({"known_pairs_low", static_cast<double>(levels_[1].num_known())});
    facts.push_back({"beta", betas_[0]});
  }
  return facts;
}

std::vector<std::byte> Mfrl::save() const {
  ArchiveWriter out("mfrl", kArchiveVersion);
  out.value(options_.low_known_after);
  out.value(options_.beta);
  out.value(options_.estimate_beta);
  out.value(options_.known_steps);
  out.value(options_.unknown_pairs);
  out.value(options_.low_steps);
  out.value(options_.max_steps);
  out.value(seed_);
  out.value(static_cast<std::uint64_t>(q().num_states()));
  out.value(static_cast<std::uint64_t>(q().num_actions()));
  out.value(static_cast<std::uint64_t>(levels_.size()));
  for (std::size_t d = 0; d < levels_.size(); ++d) {
    levels_[d].save(out);
    out.array<StateAction>(open_[d]);
  }
  out.array<double>(betas_);
  out.value(episodes_);
  out.value(low_steps_);
  out.value(low_episodes_);
  out.value(prepared_);
  return out.finish();
}

void Mfrl::load(std::span<const std::byte> bytes) {
  Mfrl loaded = *this;
  ArchiveReader in(bytes, "mfrl", kArchiveVersion);
  in.expect("low_known_after", options_.low_known_after);
  in.expect("beta", options_.beta);
  if (in.flag("beta") != options_.estimate_beta) ArchiveReader::mismatch("beta");
  in.expect("known_steps", options_.known_steps);
  in.expect("unknown_pairs", options_.unknown_pairs);
  in.expect("low_steps", options_.low_steps);
  in.expect("max_steps", options_.max_steps);
  in.expect("seed", seed_);
  in.expect("number of states", static_cast<std::uint64_t>(q().num_states()));
  in.expect("number of actions", static_cast<std::uint64_t>(q().num_actions()));
  in.expect("number of levels", static_cast<std::uint64_t>(levels_.size()));
  for (std::size_t d = 0; d < levels_.size(); ++d) {
    loaded.levels_[d].load(in);
    loaded.open_[d] = in.list<StateAction>("number of open pairs", kMaxTableSize);
    for (const auto [s, a] : loaded.open_[d])
      if (d == chain_.size() || s >= chain_[d].map->num_low_states() || a >= q().num_actions())
        ArchiveReader::mismatch("list of open pairs");
  }
  in.array<double>("number of levels", loaded.betas_);
  loaded.episodes_ = in.value<std::uint64_t>();
  loaded.low_steps_ = in.value<std::uint64_t>();
  loaded.low_episodes_ = in.value<std::uint64_t>();
  loaded.prepared_ = in.flag("preparation");
  in.finish();
  *this = std::move(loaded);
}

}  // namespace hilo
