#include "hilo/exact/policy_matrix.hpp"

namespace hilo {

PolicyMatrix policy_matrix(const Behaviour& behaviour) {
  const std::size_t num_actions = behaviour.num_actions;
  PolicyMatrix pi{.num_states = behaviour.heads.size(), .num_actions = num_actions};
  pi.probability.assign(pi.num_states * num_actions,
                        behaviour.epsilon / static_cast<double>(num_actions));
  for (State s = 0; s < pi.num_states; ++s) {
    const GreedyHead head = behaviour.heads[s];
    const double share = (1 - behaviour.epsilon) / head.count;
    for (std::uint32_t k = 0; k < head.count; ++k) {
      const Action a = head.count == 1 ? head.first : behaviour.ties[s * num_actions + k];
      pi.probability[s * num_actions + a] += share;
    }
  }
  return pi;
}

}  // namespace hilo
