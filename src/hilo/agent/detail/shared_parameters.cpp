#include "hilo/agent/detail/shared_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hilo/core/error.hpp"
#include "hilo/core/moments.hpp"

namespace hilo {

ParameterInfo exploration_parameter() {
  return {.name = "exploration",
          .description =
              "uniform actions with probability epsilon, or with epsilon (1 - 1/A) as in "
              "the published runs",
          .default_value = "standard",
          .choices = {"standard", "as-published"},
          .silent_default = true};
}

Exploration exploration_of(const Parameters& p) {
  return exploration_from_name(p.text("exploration"));
}

ParameterInfo weights_parameter(const std::string& more) {
  return {.name = "weights",
          .description = "of old returns: 1/n, or fading as policies change" + more,
          .default_value = "equal",
          .choices = {"equal", "recency"},
          .silent_default = true};
}

double recency_of(const Parameters& p) {
  return p.text("weights") == "recency" ? kRecencyWeights : kEqualWeights;
}

// Even-Dar and Mansour (2003) find polynomial steps with an exponent near 0.8 best for Q-learning.
std::vector<ParameterInfo> with_steps(double step_size, std::vector<ParameterInfo> others) {
  std::vector<ParameterInfo> all = {
      {.name = "step_exponent",
       .description = "p: the n-th update of a pair has the step size n^-p",
       .default_value = 0.8,
       .low = 0,
       .high = 1},
      {.name = "step_size",
       .description = "of all updates; 0: n^-p",
       .default_value = step_size,
       .low = 0,
       .high = 1}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

TdOptions td_options(const Parameters& p, const AgentSetting& setting) {
  return {.gamma = setting.gamma,
          .epsilon = setting.epsilon,
          .step_exponent = p.number("step_exponent"),
          .step_size = p.number("step_size")};
}

ParameterInfo low_steps_parameter(const std::string& description) {
  return {.name = "low_steps",
          .description = description,
          .default_value = std::int64_t{10'000'000},
          .low = 1,
          .high = 1e12};
}

std::uint64_t low_steps_of_search(const Parameters& p) {
  const std::int64_t given = p.integer("low_steps");
  const bool is_default = Value(given) == *low_steps_parameter("").default_value;
  return is_default ? 0 : static_cast<std::uint64_t>(given);
}

void require_no_table_settings(const AgentKind& kind, const Parameters& p,
                               const std::vector<std::string>& allowed,
                               const std::string& otherwise) {
  for (const ParameterInfo& info : kind.parameters)
    if (std::ranges::find(allowed, info.name) == allowed.end() && info.default_value &&
        p.all().at(info.name) != *info.default_value)
      throw Error(Errc::spec,
                  fmt::format("{}: {} is for problems whose states and actions are numbered; for "
                              "vectors {}",
                              kind.name, info.name, otherwise));
}

LowLearning low_learning(const Parameters& p, const AgentSetting& setting) {
  return {.low_steps = static_cast<std::uint64_t>(p.integer("low_steps")),
          .max_steps = setting.max_steps};
}

}  // namespace hilo
