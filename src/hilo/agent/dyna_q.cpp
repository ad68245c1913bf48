#include "hilo/agent/dyna_q.hpp"

#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/shared_parameters.hpp"
#include "hilo/core/error.hpp"
#include "hilo/rollout/check_episode.hpp"
#include "hilo/rollout/single_steps.hpp"

namespace hilo {

DynaQ::DynaQ(Fidelities pair, const TdOptions& options, std::uint32_t planning_steps,
             std::uint64_t seed)
    : TdAgent(pair.high().num_states(), pair.num_actions(), options),
      pair_(std::move(pair)),
      planning_steps_(planning_steps),
      seed_(seed),
      seen_(q().num_states() * q().num_actions()) {
  require_within("planning_steps", std::uint64_t{planning_steps}, 0, 1'000'000);
}

LearnReport DynaQ::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  LearnReport report;
  for (std::uint32_t t = 0; t < episode.length(); ++t) {
    const State s = episode.states[t];
    const Action a = episode.actions[t];
    const double next = episode.ends_at(t) ? 0 : q().best(episode.states[t + 1]);
    values_.update(s, a, episode.rewards[t] + values_.options().gamma * next);
    std::uint8_t& seen = seen_[s * q().num_actions() + a];
    if (seen == 0) pairs_.push_back({s, a});
    seen = 1;
    plan(t, report);
  }
  ++episodes_;
  return report;
}

void DynaQ::plan(std::uint32_t t, LearnReport& report) {
  const auto episode = static_cast<std::uint32_t>(episodes_);
  Rng choice = Rng(Stream(seed_, Purpose::choice, episode, 0, t));
  for (std::uint32_t k = 0; k < planning_steps_; ++k) {
    const auto [s, a] = pairs_[choice.below(static_cast<std::uint32_t>(pairs_.size()))];
    const std::uint32_t back = choice.u32();
    const State s_lo = pair_.map().low_of(s);
    if (pair_.low().is_terminal(s_lo)) continue;
    const Step step = sample_step(
        pair_.low(), {s_lo, a}, {seed_, Purpose::low_rollout, episode, /*pair=*/t, /*rollout=*/k});
    ++report.low_steps;

    const auto above = pair_.map().high_of(step.next);
    if (!step.done && above.empty()) continue;  // T is not onto: nothing is known of this state
    const double next =
        step.done ? 0
                  : q().best(above[scale_below(back, static_cast<std::uint32_t>(above.size()))]);
    values_.update(s, a, step.reward + values_.options().gamma * next);
  }
}

std::vector<std::byte> DynaQ::save() const {
  ArchiveWriter out("dyna-q", kArchiveVersion);
  values_.save(out);
  out.value(planning_steps_);
  out.value(seed_);
  out.value(episodes_);
  out.array<StateAction>(pairs_);
  return out.finish();
}

void DynaQ::load(std::span<const std::byte> bytes) {
  DynaQ loaded = *this;
  ArchiveReader in(bytes, "dyna-q", kArchiveVersion);
  loaded.values_.load(in);
  in.expect("planning_steps", planning_steps_);
  in.expect("seed", seed_);
  loaded.episodes_ = in.value<std::uint64_t>();
  loaded.pairs_ = in.list<StateAction>("number of pairs", seen_.size());
  in.finish();
  loaded.seen_.assign(seen_.size(), 0);
  for (const auto [s, a] : loaded.pairs_) {
    require_within("saved state", std::uint64_t{s}, 0, q().num_states() - 1, Errc::data);
    require_within("saved action", std::uint64_t{a}, 0, q().num_actions() - 1, Errc::data);
    loaded.seen_[s * q().num_actions() + a] = 1;
  }
  *this = std::move(loaded);
}

AgentKind dyna_q_kind() {
  return {.name = "dyna-q",
          .display = "Dyna-Q",
          .description = "Q-learning that plans with the low fidelity as its model",
          .parameters =
              with_steps(0.1, {{.name = "planning_steps",
                                .description = "low-fidelity steps after each of the high fidelity",
                                .default_value = std::int64_t{10},
                                .low = 0,
                                .high = 1'000'000}}),
          .needs = {.low = LowFidelities::one},
          .learns_from_any_policy = true,
          .algorithm_version = DynaQ::kAlgorithmVersion,
          .build = [](const Fidelities& fidelities, const Parameters& p,
                      const AgentSetting& setting) -> std::unique_ptr<TabularAgent> {
            return std::make_unique<DynaQ>(fidelities, td_options(p, setting),
                                           static_cast<std::uint32_t>(p.integer("planning_steps")),
                                           setting.seed);
          }};
}

}  // namespace hilo
