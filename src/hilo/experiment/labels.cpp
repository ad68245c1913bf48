#include "hilo/experiment/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hilo/core/error.hpp"

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

// The keys whose values differ among the configurations of one kind.
std::set<std::string> differing_keys(const std::vector<RunConfig>& configs, const AgentKind* kind) {
  std::map<std::string, std::set<std::string>> seen;
  for (const RunConfig& config : configs)
    if (config.agent == kind)
      for (const auto& [key, value] : traits(config)) seen[key].insert(show(value));
  std::set<std::string> keys;
  for (const auto& [key, values] : seen)
    if (values.size() > 1) keys.insert(key);
  return keys;
}

std::string default_label(const RunConfig& config, std::set<std::string> keys) {
  const auto values = traits(config);
  std::string label = config.agent->display;
  if (keys.erase("low_rollouts") > 0)
    label += fmt::format(" m={}", show(values.at("low_rollouts")));
  if (keys.erase("snr_db") > 0)
    label += fmt::format(" {:+} dB", std::get<double>(values.at("snr_db")));
  const bool has_variant = !variant_of(config).empty();
  if (keys.erase("variant") > 0 && has_variant) label += fmt::format(" {}", variant_of(config));
  for (const std::string& key : keys) {
    const bool in_variant = key == "low_policy" || key == "pool" || key == "projection";
    if (!(in_variant && has_variant)) label += fmt::format(" {}={}", key, show(values.at(key)));
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
  std::map<const AgentKind*, std::set<std::string>> keys;
  for (const RunConfig& config : configs)
    if (!keys.contains(config.agent)) keys[config.agent] = differing_keys(configs, config.agent);
  std::set<std::string> used;
  for (RunConfig& config : configs) {
    if (config.label.empty()) config.label = default_label(config, keys.at(config.agent));
    if (!used.insert(config.label).second)
      throw Error(Errc::spec, fmt::format("{}: two agents are labelled '{}'; give them labels of "
                                          "their own with label = \"...\"",
                                          where, config.label));
  }
}

}  // namespace hilo
