#include "hilo/agent/low_only.hpp"

#include "hilo/agent/corrected.hpp"
#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/shared_parameters.hpp"
#include "hilo/rollout/check_episode.hpp"

namespace hilo {

LearnReport LowOnly::learn(const Episode& episode) {
  check_episode(episode, q().num_states(), q().num_actions());
  const LearnReport report = prepare();
  ++episodes_;
  return report;
}

AgentKind low_only_kind() {
  return {.name = "low-only",
          .display = "low only",
          .description = "learns in the low fidelity and acts in the high one",
          .parameters = with_steps(
              0, {low_steps_parameter("steps in the low fidelity before the first episode")}),
          .needs = {.low = LowFidelities::one},
          .for_slow_low_fidelity = {{"low_steps", std::int64_t{20'000}}},
          .algorithm_version = LowOnly::kAlgorithmVersion,
          .build = [](const Fidelities& fidelities, const Parameters& p,
                      const AgentSetting& setting) -> std::unique_ptr<TabularAgent> {
            return std::make_unique<LowOnly>(fidelities, td_options(p, setting),
                                             low_learning(p, setting), setting.seed);
          },
          .build_vectors = [](const VectorFidelities& pair, const Parameters& p,
                              const AgentSetting& setting) -> std::unique_ptr<VectorAgent> {
            require_no_table_settings(low_only_kind(), p, {"low_steps"}, "it has only low_steps");
            return std::make_unique<Corrected>(pair,
                                               CorrectedOptions{.low_steps = low_steps_of_search(p),
                                                                .gamma = setting.gamma,
                                                                .max_steps = setting.max_steps,
                                                                .corrects = false},
                                               setting.seed);
          },
          .seconds_to_prepare = 2};
}

}  // namespace hilo
