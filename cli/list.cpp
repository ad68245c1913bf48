#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "hilo/agent/registry.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/registry.hpp"
#include "hilo/estimator/estimator.hpp"
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
};

std::vector<Entry> entries_of(const std::string& what) {
  std::vector<Entry> entries;
  if (what == "problems")
    for (const ProblemKind& kind : problem_kinds())
      entries.push_back({kind.name, kind.description, kind.parameters});
  if (what == "agents")
    for (const AgentKind& kind : agent_kinds()) {
      entries.push_back({kind.name, kind.description, kind.parameters});
      for (const Shorthand& variant : kind.variants)
        entries.back().variants.push_back(variant.name);
    }
  if (what == "estimators")
    for (const EstimatorKind& kind : estimator_kinds())
      entries.push_back({std::string(kind.name), std::string(kind.description)});
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
      info.default_value ? std::visit([](const auto& x) { return fmt::format("default {}", x); },
                                      *info.default_value)
                         : std::string("must be given");
  if (!info.choices.empty()) return fmt::format("{}; {}", value, fmt::join(info.choices, ", "));
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
      fmt::print(
          "  {:<20} shorthand for estimator, low_policy, pool and the problem's projection ({})\n",
          "variant", fmt::join(entry.variants, ", "));
  }
}

int run(const Options& options) {
  std::vector<std::string> kinds = {"problems", "agents", "estimators", "experiments"};
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
  app.add_option("WHAT", options->what, "problems, agents, estimators or experiments; default all")
      .check(one_of({"problems", "agents", "estimators", "experiments"}));
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo list agents");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
