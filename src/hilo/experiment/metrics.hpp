#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/fact.hpp"
#include "hilo/env/fidelities.hpp"
#include "hilo/env/streams.hpp"

namespace hilo {

// What a user-defined metric may use.
struct MetricView {
  const TabularAgent& agent;
  const EpisodeSimulator& high;
  const Horizon& horizon;
};

// A number that runs record, under the name that the export, reports and tables use.
struct MetricKind : FactInfo {
  // The metric that holds the value of the optimum, if that is known.
  std::string optimum = {};
  // Built-in metrics are measured by the training loop, the agent or the problem. A user-defined
  // metric is measured by this function, in runs whose spec names it in test.metrics. The function
  // must be pure. It returns nothing if there is no value.
  std::function<std::optional<double>(const MetricView&)> measure = {};
};

// The prefix of the metrics that record Problem::facts.
inline constexpr const char* kOfProblem = "problem_";

// All metrics: those of the training loop, of the user, of agents and of problems.
std::vector<MetricKind> metric_kinds();
// The metric of this name, or one with nothing but the name if it is unknown: a store may come from
// a program with other metrics.
MetricKind metric_named(std::string_view name);
// Registers a user-defined metric, which must have `measure`. Must be called before anything runs.
const MetricKind& add_metric_kind(MetricKind kind);

// The user-defined metrics that a spec names in a comma-separated list: "regret, my-metric". Throws
// Errc::spec if a name is unknown, built-in or given twice.
std::vector<MetricKind> metrics_to_measure(std::string_view list);
// The same list without spaces around the names: "a,b".
std::string normal_form(std::string_view list);

}  // namespace hilo
