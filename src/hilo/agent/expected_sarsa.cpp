#include "hilo/agent/expected_sarsa.hpp"

#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/shared_parameters.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {

// sum_a pi(a | s) Q(s, a) = (1 - epsilon) max_a Q(s, a) + epsilon mean_a Q(s, a)
double ExpectedSarsa::expected_value(State s) const {
  double sum = 0;
  for (Action a = 0; a < q().num_actions(); ++a) sum += q()(s, a);
  const double epsilon = values_.options().epsilon;
  return (1 - epsilon) * q().best(s) + epsilon * sum / static_cast<double>(q().num_actions());
}

LearnReport ExpectedSarsa::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  for (std::size_t t = 0; t < episode.length(); ++t) {
    const double next = episode.ends_at(t) ? 0 : expected_value(episode.states[t + 1]);
    values_.update(episode.states[t], episode.actions[t],
                   episode.rewards[t] + values_.options().gamma * next);
  }
  ++episodes_;
  return {};
}

AgentKind expected_sarsa_kind() {
  return {.name = "expected-sarsa",
          .display = "expected Sarsa",
          .description = "expected Sarsa on the high fidelity alone",
          .parameters = with_steps(0),

          .learns_from_any_policy = true,
          .algorithm_version = ExpectedSarsa::kAlgorithmVersion,
          .build = [](const Fidelities& fidelities, const Parameters& p,
                      const AgentSetting& setting) -> std::unique_ptr<TabularAgent> {
            return std::make_unique<ExpectedSarsa>(
                fidelities.high().num_states(), fidelities.num_actions(), td_options(p, setting));
          }};
}

}  // namespace hilo
