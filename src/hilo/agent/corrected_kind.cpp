#include <fmt/format.h>

#include "hilo/agent/corrected.hpp"
#include "hilo/agent/detail/kinds.hpp"
#include "hilo/agent/detail/network_parameters.hpp"

namespace hilo {
namespace {

CorrectedOptions options_of(const Parameters& p, const AgentSetting& setting) {
  return {.layers = network_layers(p),
          .scenarios = static_cast<std::size_t>(p.integer("scenarios")),
          .population = static_cast<std::size_t>(p.integer("population")),
          .restarts = static_cast<std::uint32_t>(p.integer("restarts")),
          .generations = static_cast<std::uint32_t>(p.integer("generations")),
          .noise = p.number("noise"),
          .search_noise = p.number("search_noise"),
          .frequencies = static_cast<std::size_t>(p.integer("frequencies")),
          .fit_points = static_cast<std::size_t>(p.integer("fit_points")),
          .low_steps = static_cast<std::uint64_t>(p.integer("search.low_steps")),
          .tune = parse_tune(p.text("tune")),
          .gamma = setting.gamma,
          .max_steps = setting.max_steps};
}

std::vector<ParameterInfo> parameters() {
  std::vector<ParameterInfo> out = network_parameters();
  const CorrectedOptions usual;
  const auto whole = [&](const char* name, const char* description, std::size_t value, double low,
                         double high) {
    out.push_back({.name = name,
                   .description = description,
                   .default_value = static_cast<std::int64_t>(value),
                   .low = low,
                   .high = high});
  };
  const auto number = [&](const char* name, const char* description, double value) {
    out.push_back(
        {.name = name, .description = description, .default_value = value, .low = 0, .high = 1});
  };
  whole("scenarios",
        "fixed starts and model samples that a policy is optimised on; fewer if episodes have more "
        "than 200 steps",
        usual.scenarios, 2, 1000);
  whole("population", "candidates of a generation of the search", usual.population, 4, 1000);
  whole("restarts", "searches from scratch", usual.restarts, 1, 100);
  whole("generations", "of a search; the best search goes on for twice as many", usual.generations,
        1, 10'000);
  number("noise", "on actions of expensive episodes, in units of half their range", usual.noise);
  number("search_noise", "on actions in scenarios, in the same unit", usual.search_noise);
  whole("frequencies", "random features of the residual, two for each", usual.frequencies, 10,
        2000);
  whole("fit_points", "steps that the length scales of the residual are fitted to",
        usual.fit_points, 20, 1000);
  whole("search.low_steps",
        "if a search needs more steps of the low fidelity than these, it is learnt from them, at "
        "most 50 000, and searched as it was learnt; 0: never, but a slow one from 8000",
        usual.low_steps, 0, 1e12);
  out.back().silent_default = true;
  out.push_back({.name = "tune",
                 .description = "numbers of the low fidelity that are fitted to expensive steps "
                                "before its residual, with their ranges: {mass = [0.5, 2]}",
                 .default_value = std::string("none"),
                 .silent_default = true});
  return out;
}

std::string plan_for_low(const CorrectedOptions& options, bool low_is_slow) {
  if (low_is_slow)
    return fmt::format(
        "the cheap simulator is slow: it is learnt from {} of its steps (search.low_steps), and "
        "searched as it was learnt",
        steps_to_learn(options));
  const double searched = searched_steps(options) / 1e6;
  if (!learns_low(options, low_is_slow))
    return fmt::format("the first search takes about {:.3g} million cheap steps", searched);
  return fmt::format(
      "the cheap simulator is learnt from {} of its steps (search.low_steps), because a search "
      "takes about {:.3g} million",
      steps_to_learn(options), searched);
}

AgentKind kind_of(const char* name, const char* display, const char* description,
                  LowFidelities low) {
  return {
      .name = name,
      .display = display,
      .description = description,
      .parameters = parameters(),
      .needs = {.low = low, .discrete_spaces = false},
      .algorithm_version = Corrected::kAlgorithmVersion,
      .build_vectors = [](const VectorFidelities& pair, const Parameters& p,
                          const AgentSetting& setting) -> std::unique_ptr<VectorAgent> {
        return std::make_unique<Corrected>(pair, options_of(p, setting), setting.seed);
      },
      .seconds_to_prepare = low == LowFidelities::none ? 0.0 : 2.0,
      .seconds_per_episode = 6,
      .plan_for_low = [low](const Parameters& p, const AgentSetting& setting,
                            bool low_is_slow) -> std::string {
        return low == LowFidelities::none ? "" : plan_for_low(options_of(p, setting), low_is_slow);
      },
      .findings =
          {{"model_value", "value of the policy in the corrected simulator, as the agent sees it"},
           {"model_gap", "return of the last episode minus what the model promised"},
           {"model_inflation", "largest factor by which the model's errors exceed its own"},
           {"tuned_1", "first number of tune, in the order of the names, as it was fitted"},
           {"tuned_1_sd", "its standard deviation"},
           {"tuned_2", "second number of tune"},
           {"tuned_2_sd", "its standard deviation"},
           {"tuned_3", "third number of tune"},
           {"tuned_3_sd", "its standard deviation"},
           {"tuned_4", "fourth number of tune"},
           {"tuned_4_sd", "its standard deviation"},
           {"model_held",
            "share of the steps of the last episode inside the model's 95 % intervals, before it "
            "was learnt from"},
           {"uses_low", "1 if the residual is that of the cheap simulator, 0 if it was dropped"}}};
}

}  // namespace

AgentKind corrected_kind() {
  return kind_of("corrected", "corrected",
                 "learns how the low fidelity errs, and optimises a network in the corrected one",
                 LowFidelities::one);
}

AgentKind corrected_high_kind() {
  return kind_of("corrected-high", "corrected (high only)",
                 "the same without a low fidelity: learns the high one from its steps alone",
                 LowFidelities::none);
}

}  // namespace hilo
