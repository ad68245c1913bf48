#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hilo/agent/tabular_agent.hpp"
#include "hilo/agent/vector_agent.hpp"
#include "hilo/core/fact.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/env/fidelities.hpp"
#include "hilo/env/vector_fidelities.hpp"
#include "hilo/rollout/truncation.hpp"

namespace hilo {

// The settings that all agents of an experiment have in common.
struct AgentSetting {
  double gamma = 0.99;
  double epsilon = 0.1;
  std::uint32_t max_steps = 10'000;
  Truncation truncation = Truncation::drop;
  std::uint64_t seed = 0;
  std::uint64_t pilot_episodes = 0;  // first episodes, which follow the uniform policy
};

// A name that stands for values of several keys. Keys that the agent does not have belong to the
// problem on which it is trained, if that has them.
struct Shorthand {
  std::string name;
  NamedValues values;
};

enum class LowFidelities : std::uint8_t { none, one, several };

// What an agent needs in addition to whole episodes of the high fidelity.
struct AgentNeeds {
  LowFidelities low = LowFidelities::none;  // how many low fidelities it can use
  bool discrete_spaces = true;              // states and actions that are numbered
  bool model = false;                       // the distribution behind the high fidelity
  bool gamma_below_1 = false;               // because it plans by value iteration
};

// A feature that an agent with these parameters needs and that not every problem has
// (env/catalogue.hpp: `lacks`).
struct Demand {
  std::string feature;
  std::string because;  // the start of the message: "coupling is 'common-random-numbers'"
};

// How a pilot study (diagnose/) represents an agent.
struct PilotView {
  std::uint32_t low_rollouts = 10;       // m
  bool fading = true;                    // old returns lose weight, as in MFMCRL+
  bool is_what_is_judged = false;        // the study's answer is about exactly this agent
  std::optional<double> uniform_chance;  // probability of a uniform action, if not epsilon
  std::string obstacle = {};             // why a pilot cannot represent it; empty: it can
};

// A kind of agent that can be named in a spec.
struct AgentKind {
  std::string name;     // in specs
  std::string display;  // in labels
  std::string description;
  std::vector<ParameterInfo> parameters = {};
  std::vector<Shorthand> variants = {};  // values of the key "variant"
  AgentNeeds needs = {};
  // It learns from single steps, whatever the policy that made them, so that episodes of another
  // run are data for it.
  bool learns_from_any_policy = false;
  // Values that use a slow low fidelity, such as Python code, less before training. The usual
  // defaults take as much as a native simulator gives in a second.
  NamedValues for_slow_low_fidelity = {};
  std::uint32_t algorithm_version = 1;  // raised by every change that alters results
  std::function<std::unique_ptr<TabularAgent>(const Fidelities&, const Parameters&,
                                              const AgentSetting&)>
      build = {};
  // For states and actions that are vectors. A kind has one of the two, or both.
  std::function<std::unique_ptr<VectorAgent>(const VectorFidelities&, const Parameters&,
                                             const AgentSetting&)>
      build_vectors = {};

  // The following members are optional.

  // Adds defaults that depend on the given values; other parameters get their own defaults.
  std::function<void(NamedValues& given)> complete = {};
  // The name in labels if it depends on the parameters; otherwise the name is `display`.
  std::function<std::string(const Parameters&)> display_of = {};
  // Versions of exchangeable parts, such as the estimator. From version 2 on they belong to a run's
  // identity, so that a change of one part does not affect runs with other parts.
  std::function<std::map<std::string, std::uint32_t>(const Parameters&)> part_versions = {};
  std::function<std::vector<Demand>(const Parameters&)> demands = {};
  // The number of low-fidelity steps for each high-fidelity step if episodes have about
  // `mean_length` steps. It is a guess, used to compare the costs of runs.
  std::function<double(const Parameters&, double mean_length)> low_steps_per_step = {};
  // With vectors: core seconds before the first episode, and for each episode. Guesses, with which
  // dry runs estimate their time.
  double seconds_to_prepare = 0, seconds_per_episode = 0.001;
  // What it will do with the steps of the low fidelity, as a sentence for dry runs.
  std::function<std::string(const Parameters&, const AgentSetting&, bool low_is_slow)>
      plan_for_low = {};
  std::function<PilotView(const Parameters&, double epsilon, std::size_t num_actions)> pilot = {};
  // The same agent without the low fidelity, as it would be written in a spec.
  std::function<NamedValues(const Parameters&)> without_low_fidelity = {};
  std::vector<FactInfo> findings = {};  // numbers that only agents of this kind record at tests
  // Whether it estimates as the paper does, so that exact/estimator_bias.hpp applies to it.
  std::function<bool(const Parameters&)> has_the_papers_bias = {};

  bool uses_low_fidelity() const { return needs.low != LowFidelities::none; }
};

// All kinds, the built-in ones first.
std::vector<std::reference_wrapper<const AgentKind>> agent_kinds();
// Throws on an unknown name; the message suggests the nearest known one.
const AgentKind& agent_kind(std::string_view name);
bool is_agent_kind(std::string_view name);
// Adds a kind that the caller defines, for specs that are read from then on. Call it before
// anything runs. With `may_replace`, a kind that was added before is replaced, which is useful in
// notebooks; a built-in kind cannot be replaced.
const AgentKind& add_agent_kind(AgentKind kind, bool may_replace = false);

// Throws Errc::spec unless the agent can work with these simulators, or with this discount.
void require_fidelities(const AgentKind& kind, const Fidelities& fidelities);
void require_low_fidelities(const AgentKind& kind, std::size_t given);
void require_discount(const AgentKind& kind, double gamma);
// Throws Errc::spec unless the agent is for such a problem: vectors, or tables.
// `otherwise` ends the message: what else could be done.
void require_domain(const AgentKind& kind, bool has_vectors, std::string_view otherwise = "");

// Replaces the key "variant" by the keys that it stands for, except those given explicitly. Returns
// the keys that are not the agent's: they belong to the problem. Throws on an unknown variant.
NamedValues take_variant(const AgentKind& kind, NamedValues& given);

// Builds an agent from checked parameters. An agent that needs no low fidelity is given none,
// because its runs are identified by the high fidelity alone.
std::unique_ptr<TabularAgent> build_checked(const AgentKind& kind, const Fidelities& fidelities,
                                            const Parameters& parameters,
                                            const AgentSetting& setting);

std::unique_ptr<VectorAgent> build_checked(const AgentKind& kind, const VectorFidelities& pair,
                                           const Parameters& parameters,
                                           const AgentSetting& setting);

// Builds an agent from the values that a user gives, which are checked and completed.
std::unique_ptr<TabularAgent> build_agent(const AgentKind& kind, const Fidelities& fidelities,
                                          NamedValues given, const AgentSetting& setting);

}  // namespace hilo
