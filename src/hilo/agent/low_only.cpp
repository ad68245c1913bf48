#include "hilo/agent/low_only.hpp"

#include "hilo/rollout/shadow.hpp"

namespace hilo {

LearnReport LowOnly::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  const LearnReport report = prepare();
  ++episodes_;
  return report;
}

}  // namespace hilo
