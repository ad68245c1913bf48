#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/core/fact.hpp"
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
  NamedValues values;
};

enum class LowFidelities : std::uint8_t { none, one, several };

// What an agent needs beside whole episodes of the high fidelity.
struct AgentNeeds {
  LowFidelities low = LowFidelities::none;  // how many cheap simulators it can use
  bool discrete_spaces = true;              // states and actions that are numbered
  bool model = false;                       // the distribution behind the high fidelity
  bool gamma_below_1 = false;               // because it plans by value iteration
};

// Something that an agent with these parameters asks of a problem, of which not every problem is
// capable (env/catalogue.hpp: `lacks`).
struct Demand {
  std::string feature;
  std::string because;  // opens the message: "coupling is 'common-random-numbers'"
};

// How a pilot study (diagnose/) stands for an agent.
struct PilotView {
  std::uint32_t low_rollouts = 10;       // m
  bool fading = true;                    // old returns lose weight, as in MFMCRL+
  bool is_what_is_judged = false;        // the study's answer is about exactly this agent
  std::optional<double> uniform_chance;  // of a uniform action, where that is not epsilon
  std::string obstacle = {};             // why a pilot cannot stand for it; empty: it can
};

// A kind of agent that can be named in a spec.
struct AgentKind {
  std::string name;     // in specs
  std::string display;  // in labels
  std::string description;
  std::vector<ParameterInfo> parameters = {};
  std::vector<Shorthand> variants = {};  // values of the key "variant"
  AgentNeeds needs = {};
  std::uint32_t algorithm_version = 1;  // raised by every change that alters results
  std::function<std::unique_ptr<TabularAgent>(const Fidelities&, const Parameters&,
                                              const AgentSetting&)>
      build;

  // What follows is for kinds that have something to say there.

  // Adds defaults that depend on what was given; what they leave open has the parameter's own.
  std::function<void(NamedValues& given)> complete = {};
  // The name in labels where it depends on the parameters; otherwise `display`.
  std::function<std::string(const Parameters&)> display_of = {};
  // Versions of exchangeable parts, such as the estimator. They belong to a run's identity from the
  // second on, so that a change of one part leaves the runs with the others as they are.
  std::function<std::map<std::string, std::uint32_t>(const Parameters&)> part_versions = {};
  std::function<std::vector<Demand>(const Parameters&)> demands = {};
  // Low-fidelity steps for one of the high fidelity, where episodes have about so many steps. A
  // guess that weighs runs against others.
  std::function<double(const Parameters&, double mean_length)> low_steps_per_step = {};
  std::function<PilotView(const Parameters&, double epsilon, std::size_t num_actions)> pilot = {};
  std::vector<FactInfo> findings = {};  // numbers that only agents of this kind record at tests
  // Whether it estimates as the paper does, so that exact/estimator_bias.hpp speaks of it.
  std::function<bool(const Parameters&)> has_the_papers_bias = {};

  bool uses_low_fidelity() const { return needs.low != LowFidelities::none; }
};

// All kinds, those that hilo comes with first.
std::vector<std::reference_wrapper<const AgentKind>> agent_kinds();
// Throws on an unknown name, with the nearest known one.
const AgentKind& agent_kind(std::string_view name);
bool is_agent_kind(std::string_view name);
// Adds a kind of the caller's, for specs that are read from then on. Before anything runs. One that
// was added before may be replaced, as people do in notebooks; those that hilo comes with may not.
const AgentKind& add_agent_kind(AgentKind kind, bool may_replace = false);

// Throws Errc::spec unless the agent can work with these simulators, or with this discount.
void require_fidelities(const AgentKind& kind, const Fidelities& fidelities);
void require_low_fidelities(const AgentKind& kind, std::size_t given);
void require_discount(const AgentKind& kind, double gamma);

// Puts the keys that "variant" stands for in its place, where they are not given themselves.
// Returns those that are not the agent's: they belong to the problem. Throws on an unknown variant.
NamedValues take_variant(const AgentKind& kind, NamedValues& given);

// Builds from checked parameters. An agent that needs no low fidelity is given none: its runs are
// known by the high fidelity alone.
std::unique_ptr<TabularAgent> build_checked(const AgentKind& kind, const Fidelities& fidelities,
                                            const Parameters& parameters,
                                            const AgentSetting& setting);

// An agent from the values that a user gives: checked, completed and built.
std::unique_ptr<TabularAgent> build_agent(const AgentKind& kind, const Fidelities& fidelities,
                                          NamedValues given, const AgentSetting& setting);

}  // namespace hilo
