#include "hilo/experiment/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hilo/core/error.hpp"
#include "hilo/env/registry.hpp"

namespace hilo {
namespace {

std::string show(const Value& value) {
  return std::visit([](const auto& x) { return fmt::format("{}", x); }, value);
}

// All keys of a configuration that may tell it from others, with their values.
std::map<std::string, Value> traits(const RunConfig& config) {
  std::map<std::string, Value> all(config.agent_parameters.all().begin(),
                                   config.agent_parameters.all().end());
  for (const auto& [key, value] : config.problem) all.emplace(key, value);
  const std::string variant = variant_of(config);
  all["variant"] = variant.empty() ? std::string("custom") : variant;
  return all;
}

// What all configurations of one method share at the front of their labels: the kind, and its
// estimator where that is neither the paper's nor in the name.
std::string method_name(const RunConfig& config) {
  const AgentKind& kind = *config.agent;
  if (!kind.display_of) return kind.display;
  std::string name = kind.display_of(config.agent_parameters);
  const auto& parameters = config.agent_parameters.all();
  const auto estimator = parameters.find("estimator");
  if (name == kind.display && estimator != parameters.end() && estimator->second != Value("paper"))
    name.append(" ").append(show(estimator->second));
  return name;
}

// Whether the variant of this name sets the key.
bool sets(const RunConfig& config, const std::string& variant, const std::string& key) {
  return std::ranges::any_of(config.agent->variants, [&](const Shorthand& shorthand) {
    return shorthand.name == variant && shorthand.values.contains(key);
  });
}

// A variant is spelled out only where the method's name does not say it already.
std::string shown_variant(const RunConfig& config) {
  return method_name(config) == config.agent->display ? variant_of(config) : "";
}

// The keys whose values differ among the configurations of one method; the variant counts over all
// of a kind, so that one published run beside a better estimator is named as such.
std::set<std::string> differing_keys(const std::vector<RunConfig>& configs,
                                     const RunConfig& example) {
  std::map<std::string, std::set<std::string>> seen;
  for (const RunConfig& config : configs) {
    if (config.agent != example.agent) continue;
    const bool same_method = method_name(config) == method_name(example);
    for (const auto& [key, value] : traits(config))
      if (same_method || key == "variant") seen[key].insert(show(value));
  }
  std::set<std::string> keys;
  for (const auto& [key, values] : seen)
    if (values.size() > 1) keys.insert(key);
  return keys;
}

// Whether a key has the value it would have had if only the estimator had been given.
bool is_default(const RunConfig& config, const std::string& key, const Value& value) {
  std::map<std::string, Value> given;
  const auto& parameters = config.agent_parameters.all();
  if (const auto found = parameters.find("estimator"); found != parameters.end())
    given.insert(*found);
  if (config.agent->complete) config.agent->complete(given);
  if (const auto found = given.find(key); found != given.end()) return found->second == value;
  for (const auto infos : {std::span<const ParameterInfo>(config.agent->parameters),
                           std::span<const ParameterInfo>(config.problem_kind->parameters)})
    if (const auto info = std::ranges::find(infos, key, &ParameterInfo::name); info != infos.end())
      return info->default_value == value;
  return false;
}

std::string default_label(const RunConfig& config, std::set<std::string> keys) {
  const auto values = traits(config);
  std::string label = method_name(config);
  if (keys.erase("low_rollouts") > 0)
    label += fmt::format(" m={}", show(values.at("low_rollouts")));
  if (keys.erase("snr_db") > 0)
    label += fmt::format(" {:+} dB", std::get<double>(values.at("snr_db")));
  const std::string variant = shown_variant(config);
  if (keys.erase("variant") > 0 && !variant.empty()) label += fmt::format(" {}", variant);
  for (const std::string& key : keys) {
    if (sets(config, variant, key)) continue;
    if (is_default(config, key, values.at(key))) continue;
    label += fmt::format(" {}={}", key, show(values.at(key)));
  }
  return label;
}

}  // namespace

std::string variant_of(const RunConfig& config) {
  for (const Shorthand& variant : config.agent->variants) {
    const bool fits = std::ranges::all_of(variant.values, [&](const auto& entry) {
      const auto& [key, value] = entry;
      const auto of_agent = config.agent_parameters.all().find(key);
      if (of_agent != config.agent_parameters.all().end()) return of_agent->second == value;
      const auto of_problem = config.problem.find(key);
      return of_problem == config.problem.end() || of_problem->second == value;
    });
    if (fits) return variant.name;
  }
  return "";
}

void assign_labels(std::vector<RunConfig>& configs, const std::string& where) {
  std::set<std::string> used;
  // By method: asking anew for every configuration would make long sweeps slow.
  std::map<std::pair<const AgentKind*, std::string>, std::set<std::string>> keys;
  for (RunConfig& config : configs) {
    if (config.label.empty()) {
      const auto method = std::pair(config.agent, method_name(config));
      auto found = keys.find(method);
      if (found == keys.end()) found = keys.emplace(method, differing_keys(configs, config)).first;
      config.label = default_label(config, found->second);
    }
    if (!used.insert(config.label).second)
      throw Error(Errc::spec, fmt::format("{}: two agents are labelled '{}'; give them labels of "
                                          "their own with label = \"...\"",
                                          where, config.label));
  }
}

}  // namespace hilo
