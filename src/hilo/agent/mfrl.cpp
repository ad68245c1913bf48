#include "hilo/agent/mfrl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/shared_parameters.hpp"
#include "hilo/core/error.hpp"
#include "hilo/rollout/check_episode.hpp"

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
  // From the cheapest simulator upwards, level by level.
  for (std::size_t d = chain_.size(); d > 0; --d) learn_below(d, report);
  return report;
}

LearnReport Mfrl::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  LearnReport report = prepare();
  std::uint64_t known_in_a_row = 0;  // not used at this level
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

// Adds an episode to the model of level d. Collects pairs that are known neither here nor below,
// and counts successive steps through known pairs.
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
  // First the pairs that the level above met and that are known neither there nor here.
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

// One episode of simulator d, from a pair or from its own start distribution.
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

// Sets U(s, a) = min(value_max, Q_d(T(s), a) + beta) for the level above and plans there.
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

namespace {

std::vector<ParameterInfo> rmax_parameters() {
  return {{.name = "known_after",
           .description = "visits after which a pair is known",
           .default_value = std::int64_t{10},
           .low = 1,
           .high = 1e6},
          {.name = "value_max",
           .description = "what any state is worth at most: r_max / (1 - gamma)",
           .default_value = 100.0,
           .low = -1e9,
           .high = 1e9},
          {.name = "value_min",
           .description = "what any state is worth at least",
           .default_value = 0.0,
           .low = -1e9,
           .high = 1e9}};
}

FactInfo known_pairs_info() {
  return {.name = "known_pairs",
          .description = "pairs that are known in the high fidelity",
          .better = Better::higher};
}

std::vector<ParameterInfo> mfrl_parameters() {
  std::vector<ParameterInfo> all = rmax_parameters();
  const std::vector<ParameterInfo> more = {
      {.name = "beta",
       .description = "how far values may lie above those of the low fidelity",
       .default_value = 0.0,
       .low = 0,
       .high = 1e9},
      {.name = "estimate_beta",
       .description = "take what is seen for beta, if that is more",
       .default_value = true},
      {.name = "low_known_after",
       .description = "visits after which a pair is known in the low fidelity",
       .default_value = std::int64_t{50},
       .low = 1,
       .high = 1e6},
      {.name = "known_steps",
       .description = "m_known: steps through known pairs in a row, to go up",
       .default_value = std::int64_t{5000},
       .low = 1,
       .high = 1e9},
      {.name = "unknown_pairs",
       .description = "m_unknown: visits to pairs that are known in neither fidelity, to go down",
       .default_value = std::int64_t{10},
       .low = 1,
       .high = 1e9},
      low_steps_parameter("in the low fidelity, at most")};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

KnownModelOptions known_model(const Parameters& p, const AgentSetting& setting) {
  return {.gamma = setting.gamma,
          .known_after = static_cast<std::uint32_t>(p.integer("known_after")),
          .value_min = p.number("value_min"),
          .value_max = p.number("value_max")};
}

void check_bounds(NamedValues& given) {
  NamedValues bounds;
  for (const char* key : {"value_min", "value_max"})
    if (const auto found = given.find(key); found != given.end()) bounds.insert(*found);
  const Parameters p("agent", rmax_parameters(), bounds);
  if (p.number("value_min") >= p.number("value_max"))
    throw Error(Errc::spec, fmt::format("value_min is {}, but must be below value_max, {}",
                                        p.number("value_min"), p.number("value_max")));
}

// The maps of Fidelities start at the high fidelity, those of a chain at the level above. So a map
// must not separate states that the map of the level above merges.
std::vector<LowFidelity> chain_of(const Fidelities& fidelities) {
  std::vector<LowFidelity> chain(fidelities.lows().begin(), fidelities.lows().end());
  for (std::size_t d = 1; d < chain.size(); ++d) {
    const StateMap& above = fidelities.map(d - 1);
    const StateMap& below = fidelities.map(d);
    std::vector<State> low_of;
    for (State s = 0; s < above.num_low_states(); ++s) {
      const std::span<const State> states = above.high_of(s);
      const auto goes_elsewhere = [&](State high) {
        return below.low_of(high) != below.low_of(states[0]);
      };
      if (states.empty() || std::ranges::any_of(states, goes_elsewhere))
        throw Error(Errc::spec,
                    fmt::format("state {} of low fidelity {} does not map to a single state of low "
                                "fidelity {}, so that they do not form a chain",
                                s, d, d + 1));
      low_of.push_back(below.low_of(states[0]));
    }
    chain[d].map = std::make_shared<const StateMap>(std::move(low_of), below.num_low_states());
  }
  return chain;
}

std::unique_ptr<TabularAgent> build_mfrl(const Fidelities& fidelities, const Parameters& p,
                                         const AgentSetting& setting) {
  const MfrlOptions options = {
      .model = known_model(p, setting),
      .low_known_after = static_cast<std::uint32_t>(p.integer("low_known_after")),
      .beta = p.number("beta"),
      .estimate_beta = p.flag("estimate_beta"),
      .known_steps = static_cast<std::uint32_t>(p.integer("known_steps")),
      .unknown_pairs = static_cast<std::uint32_t>(p.integer("unknown_pairs")),
      .low_steps = static_cast<std::uint64_t>(p.integer("low_steps")),
      .max_steps = setting.max_steps};
  return std::make_unique<Mfrl>(fidelities.high().num_states(), fidelities.num_actions(),
                                chain_of(fidelities), options, setting.seed);
}

}  // namespace

AgentKind mfrl_kind() {
  return {.name = "mfrl",
          .display = "MFRL",
          .description = "R-max in a chain of simulators, optimism from below (Cutler et al. 2014)",
          .parameters = mfrl_parameters(),
          .needs = {.low = LowFidelities::several, .gamma_below_1 = true},
          .learns_from_any_policy = true,
          .for_slow_low_fidelity = {{"low_steps", std::int64_t{100'000}}},
          .algorithm_version = Mfrl::kAlgorithmVersion,
          .build = build_mfrl,
          .complete = check_bounds,
          .findings = {known_pairs_info(),
                       {.name = "known_pairs_low",
                        .description = "pairs that are known in the low fidelity",
                        .better = Better::higher},
                       {.name = "beta",
                        .description = "how far values may lie above those of the low fidelity"}}};
}

AgentKind rmax_kind() {
  return {.name = "rmax",
          .display = "R-max",
          .description = "R-max on the high fidelity alone (Brafman and Tennenholtz 2002)",
          .parameters = rmax_parameters(),
          .needs = {.gamma_below_1 = true},
          .learns_from_any_policy = true,
          .algorithm_version = Mfrl::kAlgorithmVersion,
          .build = [](const Fidelities& fidelities, const Parameters& p,
                      const AgentSetting& setting) -> std::unique_ptr<TabularAgent> {
            return std::make_unique<Mfrl>(fidelities.high().num_states(), fidelities.num_actions(),
                                          std::vector<LowFidelity>{},
                                          MfrlOptions{.model = known_model(p, setting)},
                                          setting.seed);
          },
          .complete = check_bounds,
          .findings = {known_pairs_info()}};
}

}  // namespace hilo
