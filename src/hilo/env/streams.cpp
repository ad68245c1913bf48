#include "hilo/env/streams.hpp"

#include "hilo/core/error.hpp"

namespace hilo {

void check_streams(const StreamAddress& streams, const Horizon& horizon, std::size_t num_pairs,
                   std::size_t num_rollouts) {
  require_within("gamma", horizon.gamma, 0, 1, Errc::usage);
  require_within("max_steps", std::uint64_t{horizon.max_steps}, 1, kMaxSteps, Errc::usage);
  require_within("first_step", std::uint64_t{streams.first_step}, 0, kMaxSteps - horizon.max_steps,
                 Errc::usage);
  require_within("number of pairs", streams.first_pair + num_pairs, 0, kMaxPairs, Errc::usage);
  require_within("number of roll-outs", streams.first_rollout + num_rollouts, 0, 0xffffffffU,
                 Errc::usage);
}

}  // namespace hilo
