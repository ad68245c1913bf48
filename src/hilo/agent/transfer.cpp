#include "hilo/agent/transfer.hpp"

#include "hilo/rollout/shadow.hpp"

namespace hilo {

LearnReport Transfer::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  const LearnReport report = prepare();
  values_.q_learning(episode);
  ++episodes_;
  return report;
}

}  // namespace hilo
