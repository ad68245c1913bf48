#include "hilo/experiment/metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "hilo/agent/catalogue.hpp"
#include "hilo/core/detail/catalogue.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/catalogue.hpp"

namespace hilo {
namespace {

// The metrics of the training loop. Those of agents and problems are in their kinds.
std::vector<MetricKind> of_the_loop() {
  using enum Better;
  using enum Measured;
  return {
      {{"test_reward", "mean reward per step of the greedy policy in test episodes",
        "mean reward per step, greedy policy", higher, at_tests},
       "optimal_reward",
       {}},
      {{"test_return", "discounted return of the greedy policy in test episodes",
        "discounted return of the greedy policy, tests", higher, at_tests},
       "optimal_value",
       {}},
      {{"train_reward",
        "mean reward per step of the training episodes since the last test, where "
        "there are no test episodes",
        "mean reward per step of training episodes", higher, at_tests},
       "",
       {}},
      {{"train_return", "their discounted return", "discounted return of training episodes", higher,
        at_tests},
       "",
       {}},
      {{"policy_value", "exact discounted value of the greedy policy from the start distribution",
        "discounted value of the greedy policy, exact", higher, at_exact_tests},
       "optimal_value",
       {}},
      {{"policy_reward", "exact expectation of the mean reward per step of the greedy policy",
        "mean reward per step of the greedy policy, exact", higher, at_exact_tests},
       "optimal_reward",
       {}},
      {{"optimal_actions", "share of states whose greedy action is optimal, exact",
        "share of states whose greedy action is optimal", higher, at_exact_tests},
       "",
       {}},
      {{"optimal_value", "exact discounted value of an optimal policy", "", neither, at_end},
       "",
       {}},
      {{"optimal_reward", "its exact mean reward per step", "", neither, at_end}, "", {}},
      {{"variance_ratio", "mean of 1 - rho^2 over the updated pairs since the last test", "", lower,
        at_tests},
       "",
       {}},
      {{"variance_ratio_last_1000", "the same over the last 1000 episodes", "", lower, at_end},
       "",
       {}},
      {{"correlation",
        "of high- and low-fidelity returns, mean over the pairs that were corrected "
        "since the last test",
        "correlation of high- and low-fidelity returns", neither, at_tests},
       "",
       {}},
      {{"high_steps_so_far", "steps in the high fidelity until this test", "", neither, at_tests},
       "",
       {}},
      {{"low_steps_so_far", "steps in the low fidelity until this test", "", neither, at_tests},
       "",
       {}},
      {{"own_value", "value of the greedy policy as the agent itself estimates it", "", higher,
        at_end},
       "",
       {}},
      {{"own_value_error", "its standard error", "", lower, at_end}, "", {}},
      {{"return_sd", "exact standard deviation of a return, root mean square over pairs", "",
        neither, at_end},
       "",
       {}},
      {{"bias_rms", "exact bias of the paper's estimator, root mean square over pairs", "", lower,
        at_end},
       "",
       {}},
      {{"bias_break_even", "returns of a pair after which that bias costs more than it saves", "",
        higher, at_end},
       "",
       {}},
      {{"high_steps", "steps in the high fidelity", "", lower, at_end}, "", {}},
      {{"low_steps", "steps in the low fidelity", "", lower, at_end}, "", {}},
      {{"test_steps", "steps of test episodes, where the high fidelity has no model", "", lower,
        at_end},
       "",
       {}},
      {{"truncated", "episodes and roll-outs cut by max_steps", "", lower, at_end}, "", {}},
      {{"truncated_high", "episodes of the high fidelity that were cut", "", lower, at_end},
       "",
       {}},
      {{"dropped", "of them, those that taught nothing", "", lower, at_end}, "", {}},
      {{"seconds", "of training alone", "", lower, at_end}, "", {}},
  };
}

Catalogue<MetricKind>& catalogue() {
  static Catalogue<MetricKind> the("metric", of_the_loop());
  return the;
}

}  // namespace

std::vector<MetricKind> metric_kinds() {
  std::vector<MetricKind> all;
  std::set<std::string> known;
  const auto add = [&](const MetricKind& kind) {
    if (known.insert(kind.name).second) all.push_back(kind);
  };
  for (const MetricKind& kind : catalogue().all()) add(kind);
  for (const AgentKind& agent : agent_kinds())
    for (const FactInfo& fact : agent.findings) add({fact, "", {}});
  for (const ProblemKind& problem : problem_kinds())
    for (const FactInfo& fact : problem.observed) add({fact, "", {}});
  return all;
}

MetricKind metric_named(std::string_view name) {
  MetricKind found{{.name = std::string(name), .description = {}}, "", {}};
  for (const MetricKind& kind : metric_kinds())
    if (kind.name == name) found = kind;
  if (found.axis.empty()) found.axis = found.name;
  return found;
}

const MetricKind& add_metric_kind(MetricKind kind) {
  if (!kind.measure) throw Error(Errc::usage, fmt::format("metric '{}' has no measure", kind.name));
  for (const MetricKind& known : metric_kinds())
    if (known.name == kind.name)
      throw Error(Errc::usage, fmt::format("there is a metric called '{}' already", kind.name));
  if (kind.name.starts_with(kOfProblem))
    throw Error(Errc::usage,
                fmt::format("metric '{}': {} opens the names of a problem's own figures", kind.name,
                            kOfProblem));
  require_plain_text("the description of metric " + kind.name, kind.description);
  require_plain_text("the axis of metric " + kind.name, kind.axis);
  return catalogue().add(std::move(kind));
}

namespace {

// Splits a comma-separated list into names, without the spaces around them.
std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> names;
  for (;;) {
    const std::size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    names.emplace_back(name);
    if (comma == std::string_view::npos) return names;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

std::vector<MetricKind> metrics_to_measure(std::string_view list) {
  std::vector<MetricKind> all;
  if (list.empty()) return all;
  std::map<std::string, MetricKind> known;
  std::vector<std::string> names;
  for (const MetricKind& kind : catalogue().all())
    if (kind.measure) {
      known.emplace(kind.name, kind);
      names.push_back(kind.name);
    }
  for (const std::string& name : split(list)) {
    const auto found = known.find(name);
    if (found == known.end())
      throw Error(Errc::spec,
                  fmt::format("'{}' is none of the metrics that this program has added{} (there "
                              "{}: {}; what hilo itself measures is recorded anyway)",
                              name, did_you_mean(name, names), names.size() == 1 ? "is" : "are",
                              names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    for (const MetricKind& before : all)
      if (before.name == name)
        throw Error(Errc::spec, fmt::format("the metric '{}' is named twice", name));
    all.push_back(found->second);
  }
  return all;
}

std::string normal_form(std::string_view list) {
  return list.empty() ? "" : fmt::format("{}", fmt::join(split(list), ","));
}

}  // namespace hilo
