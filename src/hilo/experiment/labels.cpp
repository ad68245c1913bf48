#include "hilo/experiment/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hilo/core/error.hpp"
#include "hilo/env/catalogue.hpp"

namespace hilo {
namespace {

// All keys of a configuration that may distinguish it from others, with their values.
NamedValues traits(const RunConfig& config) {
  NamedValues all(config.agent_parameters.all().begin(), config.agent_parameters.all().end());
  for (const auto& [key, value] : config.problem) all.emplace(key, value);
  const std::string variant = variant_of(config);
  all["variant"] = variant.empty() ? std::string("custom") : variant;
  return all;
}

// The beginning of the labels of all configurations of one method: the kind, and the values that
// define the method (names_method), unless they are defaults or the kind makes a name of its own.
std::string method_name(const RunConfig& config) {
  const AgentKind& kind = *config.agent;
  const Parameters& parameters = config.agent_parameters;
  std::string name = kind.display_of ? kind.display_of(parameters) : kind.display;
  if (name != kind.display) return name;
  for (const ParameterInfo& info : kind.parameters) {
    const Value& value = parameters.all().at(info.name);
    if (info.names_method && value != info.default_value)
      name += fmt::format(" {}", plain_text(value));
  }
  return name;
}

// Whether the variant of this name sets the key.
bool sets(const RunConfig& config, const std::string& variant, const std::string& key) {
  return std::ranges::any_of(config.agent->variants, [&](const Shorthand& shorthand) {
    return shorthand.name == variant && shorthand.values.contains(key);
  });
}

// A variant is shown only if the method's name does not say it already.
std::string shown_variant(const RunConfig& config) {
  return method_name(config) == config.agent->display ? variant_of(config) : "";
}

// The keys whose values differ among the configurations of one method. The variant is compared
// among all configurations of a kind, so that one published run beside a better estimator is named
// as such.
std::set<std::string> differing_keys(const std::vector<RunConfig>& configs,
                                     const RunConfig& example) {
  std::map<std::string, std::set<std::string>> seen;
  for (const RunConfig& config : configs) {
    if (config.agent != example.agent) continue;
    const bool same_method = method_name(config) == method_name(example);
    for (const auto& [key, value] : traits(config))
      if (same_method || key == "variant") seen[key].insert(plain_text(value));
  }
  std::set<std::string> keys;
  for (const auto& [key, values] : seen)
    if (values.size() > 1) keys.insert(key);
  return keys;
}

// The parameters of the agent, followed by those of the problem.
std::vector<ParameterInfo> parameters_of(const RunConfig& config) {
  std::vector<ParameterInfo> all = config.agent->parameters;
  const auto& problem = config.problem_kind->parameters;
  all.insert(all.end(), problem.begin(), problem.end());
  return all;
}

// Whether a key has the value it would have had if only the method had been given.
bool is_default(const RunConfig& config, const std::string& key, const Value& value) {
  NamedValues given;
  for (const ParameterInfo& info : config.agent->parameters)
    if (info.names_method) given[info.name] = config.agent_parameters.all().at(info.name);
  if (config.agent->complete) config.agent->complete(given);
  if (const auto found = given.find(key); found != given.end()) return found->second == value;
  const auto infos = parameters_of(config);
  const auto info = std::ranges::find(infos, key, &ParameterInfo::name);
  return info != infos.end() && info->default_value == value;
}

// The value of a parameter in the form that its kind gives it in labels: "m=10", "-3 dB".
std::string in_own_form(const ParameterInfo& info, const Value& value) {
  return std::visit([&](const auto& x) { return fmt::format(fmt::runtime(info.in_label), x); },
                    value);
}

std::string default_label(const RunConfig& config, std::set<std::string> keys) {
  const NamedValues values = traits(config);
  std::string label = method_name(config);
  for (const ParameterInfo& info : parameters_of(config))
    if (!info.in_label.empty() && keys.erase(info.name) > 0)
      label += fmt::format(" {}", in_own_form(info, values.at(info.name)));
  const std::string variant = shown_variant(config);
  if (keys.erase("variant") > 0 && !variant.empty()) label += fmt::format(" {}", variant);
  for (const std::string& key : keys) {
    if (sets(config, variant, key)) continue;
    if (is_default(config, key, values.at(key))) continue;
    label += fmt::format(" {}={}", key, plain_text(values.at(key)));
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
  // Kept by method, because computing the keys for every configuration would make long sweeps slow.
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
