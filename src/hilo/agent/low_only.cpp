#include "hilo/agent/low_only.hpp"

#include <fmt/format.h>

#include "hilo/agent/corrected.hpp"
#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/shared_parameters.hpp"
#include "hilo/core/error.hpp"
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
            for (const ParameterInfo& info : low_only_kind().parameters)
              if (info.name != "low_steps" && info.default_value &&
                  p.all().at(info.name) != *info.default_value)
                throw Error(Errc::spec,
                            fmt::format("low-only: {} is for problems whose states and actions are "
                                        "numbered; for vectors it has only low_steps",
                                        info.name));
            // As many as are needed, unless they are bounded.
            const std::int64_t given = p.integer("low_steps");
            const bool is_bounded = Value(given) != *low_steps_parameter("").default_value;
            return std::make_unique<Corrected>(
                pair,
                CorrectedOptions{.low_steps = is_bounded ? static_cast<std::uint64_t>(given) : 0,
                                 .gamma = setting.gamma,
                                 .max_steps = setting.max_steps,
                                 .corrects = false},
                setting.seed);
          }};
}

}  // namespace hilo
