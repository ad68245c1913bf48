#include "hilo/agent/q_learning.hpp"

#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/shared_parameters.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {

LearnReport QLearning::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  values_.q_learning(episode);
  ++episodes_;
  return {};
}

AgentKind q_learning_kind() {
  return {.name = "q-learning",
          .display = "Q-learning",
          .description = "Q-learning on the high fidelity alone",
          .parameters = with_steps(0),

          .learns_from_any_policy = true,
          .algorithm_version = QLearning::kAlgorithmVersion,
          .build = [](const Fidelities& fidelities, const Parameters& p,
                      const AgentSetting& setting) -> std::unique_ptr<TabularAgent> {
            return std::make_unique<QLearning>(fidelities.high().num_states(),
                                               fidelities.num_actions(), td_options(p, setting));
          }};
}

}  // namespace hilo
