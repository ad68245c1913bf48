#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/env/fidelities.hpp"
#include "hilo/rollout/truncation.hpp"

namespace hilo {

// What all agents of an experiment have in common.
struct AgentSetting {
  double gamma = 0.99;
  double epsilon = 0.1;
  std::uint32_t max_steps = 10'000;
  Truncation truncation = Truncation::drop;
  std::uint64_t seed = 0;
  std::uint64_t pilot_episodes = 0;  // that follow the uniform policy, before the agent's own
};

// A name that stands for values of several keys. Keys that the agent does not have belong to the
// problem it is trained on, where that has them.
struct Shorthand {
  std::string name;
  std::map<std::string, Value> values;
};

// A kind of agent that can be named in a spec.
struct AgentKind {
  std::string name;     // in specs
  std::string display;  // in labels
  std::string description;
  std::vector<ParameterInfo> parameters;
  std::vector<Shorthand> variants;  // values of the key "variant"
  // Adds defaults that depend on what was given; what they leave open has the parameter's own.
  std::function<void(std::map<std::string, Value>& given)> complete = {};
  // The name in labels where it depends on the parameters; otherwise `display`.
  std::function<std::string(const Parameters&)> display_of = {};
  bool uses_low_fidelity = false;
  bool takes_several = false;           // low fidelities; otherwise one at most
  bool plans = false;                   // by value iteration, for which gamma must be below 1
  std::uint32_t algorithm_version = 0;  // raised by every change that alters results
  // Versions of exchangeable parts, such as the estimator. They belong to a run's identity from the
  // second on, so that a change of one part leaves the runs with the others as they are.
  std::function<std::map<std::string, std::uint32_t>(const Parameters&)> part_versions = {};
  std::function<std::unique_ptr<TabularAgent>(const Fidelities&, const Parameters&,
                                              const AgentSetting&)>
      build;
};

std::span<const AgentKind> agent_kinds();

// Throws Errc::spec unless the agent can work with so many low fidelities.
void require_fidelities(const AgentKind& kind, const Fidelities& fidelities);

// Throws on an unknown name, with the nearest known one.
const AgentKind& agent_kind(std::string_view name);

}  // namespace hilo
