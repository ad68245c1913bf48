#include "hilo/agent/transfer.hpp"

#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/shared_parameters.hpp"
#include "hilo/agent/policy_gradient.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {

LearnReport Transfer::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  const LearnReport report = prepare();
  values_.q_learning(episode);
  ++episodes_;
  return report;
}

AgentKind transfer_kind() {
  return {
      .name = "transfer",
      .display = "transfer",
      .description =
          "Q-learning that starts from values learnt in the low fidelity; for vectors "
          "a policy gradient that starts from its optimum",
      .parameters =
          with_steps(0, {low_steps_parameter("steps in the low fidelity before the first episode"),
                         {.name = "prior_count",
                          .description = "updates that the first values count for",
                          .default_value = 10.0,
                          .low = 0,
                          .high = 1e9}}),
      .needs = {.low = LowFidelities::one},
      .learns_from_any_policy = true,
      .for_slow_low_fidelity = {{"low_steps", std::int64_t{20'000}}},
      .algorithm_version = Transfer::kAlgorithmVersion,
      .build = [](const Fidelities& fidelities, const Parameters& p,
                  const AgentSetting& setting) -> std::unique_ptr<TabularAgent> {
        return std::make_unique<Transfer>(fidelities, td_options(p, setting),
                                          low_learning(p, setting), p.number("prior_count"),
                                          setting.seed);
      },
      .build_vectors = [](const VectorFidelities& pair, const Parameters& p,
                          const AgentSetting& setting) -> std::unique_ptr<VectorAgent> {
        require_no_table_settings(transfer_kind(), p, {"low_steps"},
                                  "take mfpg with control = \"none\" and start = "
                                  "\"low-optimum\", which is the same with settings");
        return std::make_unique<PolicyGradient>(pair,
                                                GradientOptions{.control = GradientControl::none,
                                                                .starts_at_low_optimum = true,
                                                                .low_steps = low_steps_of_search(p),
                                                                .gamma = setting.gamma,
                                                                .max_steps = setting.max_steps},
                                                setting.seed);
      },
      .seconds_to_prepare = 2};
}

}  // namespace hilo
