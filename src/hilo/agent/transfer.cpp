#include "hilo/agent/transfer.hpp"

#include "hilo/core/error.hpp"
#include "hilo/rollout/shadow.hpp"

namespace hilo {

Transfer::Transfer(FidelityPair pair, const TdOptions& options, const LowLearning& learning,
                   double prior_count, std::uint64_t seed)
    : TdAgent(pair.high().num_states(), pair.num_actions(), options),
      pair_(std::move(pair)),
      learning_(learning),
      prior_count_(prior_count),
      seed_(seed) {
  validate(learning);
  require_within("prior_count", prior_count, 0, 1e9);
}

LearnReport Transfer::prepare() {
  LearnReport report;
  if (prepared_) return report;
  const TdValues low =
      learn_in_low_fidelity(pair_.low(), values_.options(), learning_, seed_, report);
  lift(low.q(), pair_.map(), prior_count_, values_);
  prepared_ = true;
  return report;
}

LearnReport Transfer::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  const LearnReport report = prepare();
  values_.q_learning(episode);
  ++episodes_;
  return report;
}

std::vector<std::byte> Transfer::save() const {
  ArchiveWriter out("transfer", kArchiveVersion);
  values_.save(out);
  out.value(learning_.low_steps);
  out.value(learning_.max_steps);
  out.value(prior_count_);
  out.value(seed_);
  out.value(prepared_);
  out.value(episodes_);
  return out.finish();
}

void Transfer::load(std::span<const std::byte> bytes) {
  Transfer loaded = *this;
  ArchiveReader in(bytes, "transfer", kArchiveVersion);
  loaded.values_.load(in);
  in.expect("low_steps", learning_.low_steps);
  in.expect("max_steps", learning_.max_steps);
  in.expect("prior_count", prior_count_);
  in.expect("seed", seed_);
  loaded.prepared_ = in.flag("prepared");
  loaded.episodes_ = in.value<std::uint64_t>();
  in.finish();
  *this = std::move(loaded);
}

}  // namespace hilo
