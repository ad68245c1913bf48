#include "hilo/agent/low_learning.hpp"

#include "hilo/core/error.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {

void validate(const LowLearning& learning) {
  require_within("low_steps", learning.low_steps, 1, 1'000'000'000'000);
  require_within("max_steps", std::uint64_t{learning.max_steps}, 1, kMaxSteps);
}

TdValues learn_in_low_fidelity(const Simulator& low, const TdOptions& options,
                               const LowLearning& learning, std::uint64_t seed,
                               LearnReport& report) {
  TdValues values(low.num_states(), low.num_actions(), options);
  Episode episode;
  std::uint64_t steps = 0;
  for (std::uint32_t k = 0; steps < learning.low_steps; ++k) {
    low.run_episode(values.behaviour(),
                    {.seed = seed, .purpose = Purpose::preparation, .episode = k},
                    {.gamma = options.gamma, .max_steps = learning.max_steps}, episode);
    check_episode(episode, low.num_states(), low.num_actions());
    if (episode.length() == 0)
      throw Error(Errc::simulator, "the low fidelity gave an episode without a step");
    values.q_learning(episode);
    steps += episode.length();
    report.truncated_rollouts += episode.truncated ? 1 : 0;
  }
  report.low_steps += steps;
  return values;
}

LowTaughtAgent::LowTaughtAgent(Fidelities pair, const TdOptions& options,
                               const LowLearning& learning, double prior_count, std::uint64_t seed)
    : TdAgent(pair.high().num_states(), pair.num_actions(), options),
      pair_(std::move(pair)),
      learning_(learning),
      prior_count_(prior_count),
      seed_(seed) {
  validate(learning);
  require_within("prior_count", prior_count, 0, 1e9);
}

LearnReport LowTaughtAgent::prepare() {
  LearnReport report;
  if (prepared_) return report;
  const TdValues low =
      learn_in_low_fidelity(pair_.low(), values_.options(), learning_, seed_, report);
  for (State s = 0; s < q().num_states(); ++s)
    for (Action a = 0; a < q().num_actions(); ++a) {
      const State s_lo = pair_.map().low_of(s);
      values_.start_at(s, a, low.q()(s_lo, a), low.updates(s_lo, a) > 0 ? prior_count_ : 0);
    }
  prepared_ = true;
  return report;
}

std::vector<std::byte> LowTaughtAgent::write(std::string_view tag, std::uint32_t version) const {
  ArchiveWriter out(tag, version);
  values_.save(out);
  out.value(learning_.low_steps);
  out.value(learning_.max_steps);
  out.value(prior_count_);
  out.value(seed_);
  out.value(prepared_);
  out.value(episodes_);
  return out.finish();
}

void LowTaughtAgent::read(std::span<const std::byte> bytes, std::string_view tag,
                          std::uint32_t version) {
  TdValues values = values_;
  ArchiveReader in(bytes, tag, version);
  values.load(in);
  in.expect("low_steps", learning_.low_steps);
  in.expect("max_steps", learning_.max_steps);
  in.expect("prior_count", prior_count_);
  in.expect("seed", seed_);
  const bool prepared = in.flag("preparation");
  const auto episodes = in.value<std::uint64_t>();
  in.finish();
  values_ = std::move(values);
  prepared_ = prepared;
  episodes_ = episodes;
}

}  // namespace hilo
