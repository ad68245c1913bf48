#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/network_parameters.hpp"
#include "hilo/agent/policy_gradient.hpp"

namespace hilo {
namespace {

GradientOptions options_of(const Parameters& p, const AgentSetting& setting) {
  const bool has_control = p.all().contains("control");
  GradientOptions out{.layers = network_layers(p),
                      .batch = static_cast<std::uint32_t>(p.integer("batch")),
                      .control = GradientControl::none,
                      .noise = p.number("noise"),
                      .step_size = p.number("step_size"),
                      .gamma = setting.gamma,
                      .max_steps = setting.max_steps};
  if (!has_control) return out;
  out.low_rollouts = static_cast<std::uint32_t>(p.integer("low_rollouts"));
  const std::string& control = p.text("control");
  out.control = control == "low"         ? GradientControl::low
                : control == "corrected" ? GradientControl::corrected
                                         : GradientControl::none;
  out.starts_at_low_optimum = p.text("start") == "low-optimum";
  return out;
}

AgentKind kind_of(const char* name, const char* display, const char* description,
                  std::vector<ParameterInfo> parameters, LowFidelities low) {
  return {.name = name,
          .display = display,
          .description = description,
          .parameters = std::move(parameters),
          .needs = {.low = low, .discrete_spaces = false},
          .for_slow_low_fidelity = low == LowFidelities::none
                                       ? NamedValues()
                                       : NamedValues{{"low_rollouts", std::int64_t{3}}},
          .algorithm_version = PolicyGradient::kAlgorithmVersion,
          .build_vectors = [](const VectorFidelities& pair, const Parameters& p,
                              const AgentSetting& setting) -> std::unique_ptr<VectorAgent> {
            return std::make_unique<PolicyGradient>(pair, options_of(p, setting), setting.seed);
          },
          .seconds_per_episode = low == LowFidelities::none ? 0.001 : 0.01,
          .findings = {}};
}

}  // namespace

std::vector<ParameterInfo> gradient_parameters() {
  const GradientOptions usual;
  std::vector<ParameterInfo> out = network_parameters();
  out.push_back({.name = "batch",
                 .description = "expensive episodes for an update",
                 .default_value = std::int64_t{usual.batch},
                 .low = 2,
                 .high = 10'000});
  out.push_back({.name = "noise",
                 .description = "standard deviation of actions in a box, in units of half its "
                                "width; discrete actions are drawn by softmax",
                 .default_value = usual.noise,
                 .low = 0.01,
                 .high = 10});
  out.push_back({.name = "step_size",
                 .description = "of Adam: about how far a weight moves in an update",
                 .default_value = usual.step_size,
                 .low = 1e-9,
                 .high = 10});
  return out;
}

AgentKind pg_kind() {
  return kind_of("pg", "policy gradient",
                 "policy gradient (REINFORCE with a baseline) on the high fidelity alone",
                 gradient_parameters(), LowFidelities::none);
}

AgentKind mfpg_kind() {
  const GradientOptions usual;
  std::vector<ParameterInfo> parameters = gradient_parameters();
  parameters.push_back({.name = "low_rollouts",
                        .description = "free low-fidelity paths for each expensive episode",
                        .default_value = std::int64_t{usual.low_rollouts},
                        .low = 1,
                        .high = 10'000});
  parameters.push_back({.name = "control",
                        .description = "the control variate: the low fidelity as it is, or with "
                                       "its residual, learnt from earlier episodes; or none",
                        .default_value = "low",
                        .choices = {"low", "corrected", "none"}});
  parameters.push_back({.name = "start",
                        .description = "the first policy: a random network, or the optimum of the "
                                       "low fidelity",
                        .default_value = "random",
                        .choices = {"random", "low-optimum"}});
  AgentKind out = kind_of("mfpg", "MFPG",
                          "policy gradient with the low fidelity's gradient as control variate, "
                          "without bias",
                          std::move(parameters), LowFidelities::one);
  out.findings = {
      {"gradient_rho", "correlation of expensive and cheap gradients, as earlier batches show it"},
      {"gradient_weight", "the control variate's coefficient in the last batch; 0: not used"},
      {"draws_starts",
       "1 if free paths have starts of their own; 0 if they begin where expensive episodes began, "
       "so that only the variance within starts is reduced"}};
  return out;
}

}  // namespace hilo
