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

// What a metric of the caller's may look at.
struct MetricView {
  const TabularAgent& agent;
  const EpisodeSimulator& high;
  const Horizon& horizon;
};

// A number that runs record, as the export, reports and tables name it.
struct MetricKind : FactInfo {
  // The level of the optimum, where that is known, is recorded under this name.
  std::string optimum = {};
  // Metrics that hilo comes with are measured by the training loop, the agent or the problem. One
  // of the caller's is measured by this, in runs whose spec names it in test.metrics; it must be a
  // function of what it sees. Nothing where there is nothing to tell.
  std::function<std::optional<double>(const MetricView&)> measure = {};
};

// What opens the names of a problem's own figures.
inline constexpr const char* kOfProblem = "problem_";

// All of them: those of the training loop, of the caller, of agents and of problems.
std::vector<MetricKind> metric_kinds();
// The one of this name, or one that knows nothing but the name: a store may come from a program
// that has others.
MetricKind metric_named(std::string_view name);
// Adds a metric of the caller's, which must have `measure`. Before anything runs.
const MetricKind& add_metric_kind(MetricKind kind);

// The metrics that a spec names, with commas between: "regret, my-metric". Throws Errc::spec on
// one that is unknown or that cannot be asked for.
std::vector<MetricKind> metrics_to_measure(std::string_view list);
// The same list in the form that all have in common: "a,b".
std::string normal_form(std::string_view list);

}  // namespace hilo
