#include "hilo/agent/low_only.hpp"

#include "hilo/rollout/shadow.hpp"

namespace hilo {

LowOnly::LowOnly(FidelityPair pair, const TdOptions& options, const LowLearning& learning,
                 std::uint64_t seed)
    : TdAgent(pair.high().num_states(), pair.num_actions(), options),
      pair_(std::move(pair)),
      learning_(learning),
      seed_(seed) {
  validate(learning);
}

LearnReport LowOnly::prepare() {
  LearnReport report;
  if (prepared_) return report;
  const TdValues low =
      learn_in_low_fidelity(pair_.low(), values_.options(), learning_, seed_, report);
  lift(low.q(), pair_.map(), /*updates=*/0, values_);
  prepared_ = true;
  return report;
}

LearnReport LowOnly::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  const LearnReport report = prepare();
  ++episodes_;
  return report;
}

std::vector<std::byte> LowOnly::save() const {
  ArchiveWriter out("low-only", kArchiveVersion);
  values_.save(out);
  out.value(learning_.low_steps);
  out.value(learning_.max_steps);
  out.value(seed_);
  out.value(prepared_);
  out.value(episodes_);
  return out.finish();
}

void LowOnly::load(std::span<const std::byte> bytes) {
  LowOnly loaded = *this;
  ArchiveReader in(bytes, "low-only", kArchiveVersion);
  loaded.values_.load(in);
  in.expect("low_steps", learning_.low_steps);
  in.expect("max_steps", learning_.max_steps);
  in.expect("seed", seed_);
  loaded.prepared_ = in.flag("prepared");
  loaded.episodes_ = in.value<std::uint64_t>();
  in.finish();
  *this = std::move(loaded);
}

}  // namespace hilo
