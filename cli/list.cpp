#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "hilo/agent/catalogue.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/estimator/estimator.hpp"
#include "hilo/experiment/metrics.hpp"
#include "hilo/experiment/spec.hpp"
#include "hilo/report/shipped.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::string what;
  bool json = false;
};

struct Entry {
  std::string name, description;
  std::span<const ParameterInfo> parameters = {};
  std::vector<std::string> variants = {};
  std::vector<std::string> variant_keys = {};  // whose values the variants set
};

const char* when(Measured measured) {
  switch (measured) {
    case Measured::at_tests:
      return "at every test";
    case Measured::at_exact_tests:
      return "at tests with exact values";
    case Measured::at_end:
      break;
  }
  return "at the end";
}

const char* better(Better better) {
  switch (better) {
    case Better::higher:
      return "; higher is better";
    case Better::lower:
      return "; lower is better";
    case Better::neither:
      break;
  }
  return "";
}

std::vector<Entry> entries_of(const std::string& what) {
  std::vector<Entry> entries;
  if (what == "problems")
    for (const ProblemKind& kind : problem_kinds())
      entries.push_back({kind.name, kind.description, kind.parameters});
  if (what == "agents")
    for (const AgentKind& kind : agent_kinds()) {
      entries.push_back({kind.name, kind.description, kind.parameters});
      std::set<std::string> keys;
      for (const Shorthand& variant : kind.variants) {
        entries.back().variants.push_back(variant.name);
        for (const auto& [key, value] : variant.values) keys.insert(key);
      }
      entries.back().variant_keys.assign(keys.begin(), keys.end());
    }
  if (what == "estimators")
    for (const EstimatorKind& kind : estimator_kinds())
      entries.push_back({kind.name, kind.description});
  if (what == "metrics")
    for (const MetricKind& kind : metric_kinds())
      entries.push_back({kind.name, fmt::format("{} ({}{})", kind.description, when(kind.measured),
                                                better(kind.better))});
  if (what == "experiments") {
    for (const ShippedStudy& study : shipped_studies())
      entries.push_back({std::string(study.name), std::string(study.description)});
    for (const ShippedSpec& spec : shipped_specs())
      entries.push_back({std::string(spec.name), std::string(description_of(spec))});
  }
  return entries;
}

std::string show(const ParameterInfo& info) {
  const std::string value =
      info.default_value ? "default " + plain_text(*info.default_value) : "must be given";
  if (const auto choices = info.allowed(); !choices.empty())
    return fmt::format("{}; {}", value, fmt::join(choices, ", "));
  if (info.high > info.low) return fmt::format("{}; {} to {}", value, info.low, info.high);
  return value;
}

nlohmann::json to_json(const Entry& entry) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const ParameterInfo& info : entry.parameters)
    parameters.push_back(
        {{"name", info.name}, {"description", info.description}, {"allowed", show(info)}});
  return {{"name", entry.name},
          {"description", entry.description},
          {"parameters", parameters},
          {"variants", entry.variants}};
}

void print(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    fmt::print("{:<18} {}\n", entry.name, entry.description);
    for (const ParameterInfo& info : entry.parameters)
      fmt::print("  {:<20} {} ({})\n", info.name, info.description, show(info));
    if (!entry.variants.empty())
      fmt::print("  {:<20} shorthand for values of {} ({})\n", "variant",
                 fmt::join(entry.variant_keys, ", "), fmt::join(entry.variants, ", "));
  }
}

int run(const Options& options) {
  std::vector<std::string> kinds = {"problems", "agents", "estimators", "metrics", "experiments"};
  if (!options.what.empty()) kinds = {options.what};
  nlohmann::json all;
  for (const std::string& kind : kinds) {
    const auto entries = entries_of(kind);
    if (options.json) {
      for (const Entry& entry : entries) all[kind].push_back(to_json(entry));
      continue;
    }
    if (kinds.size() > 1) fmt::print("{}:\n", kind);
    print(entries);
    if (kinds.size() > 1) fmt::print("\n");
  }
  if (options.json) fmt::print("{}\n", json_text(all));
  return 0;
}

}  // namespace

Handler add_list(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("WHAT", options->what,
                 "problems, agents, estimators, metrics or experiments; default all")
      .check(one_of({"problems", "agents", "estimators", "metrics", "experiments"}));
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo list agents");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
