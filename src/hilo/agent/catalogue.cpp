#include "hilo/agent/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hilo/agent/detail/kinds.hpp"
#include "hilo/core/detail/catalogue.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

#define HILO_KIND(name) name##_kind(),
Catalogue<AgentKind>& catalogue() {
  static Catalogue<AgentKind> the("agent", {HILO_AGENT_KINDS(HILO_KIND)});
  return the;
}
#undef HILO_KIND

}  // namespace

std::vector<std::reference_wrapper<const AgentKind>> agent_kinds() { return catalogue().all(); }
const AgentKind& agent_kind(std::string_view name) { return catalogue().find(name); }
bool is_agent_kind(std::string_view name) { return catalogue().contains(name); }
const AgentKind& add_agent_kind(AgentKind kind, bool may_replace) {
  if (!kind.build && !kind.build_vectors)
    throw Error(Errc::usage, fmt::format("agent '{}' has no build", kind.name));
  if (kind.display.empty()) kind.display = kind.name;
  require_sound_parameters("agent " + kind.name, kind.parameters);
  require_plain_text("the name of agent " + kind.name + " in labels", kind.display);
  require_plain_text("the description of agent " + kind.name, kind.description);
  return catalogue().add(std::move(kind), may_replace);
}

void require_low_fidelities(const AgentKind& kind, std::size_t given) {
  if (kind.uses_low_fidelity() && given == 0)
    throw Error(Errc::spec,
                fmt::format("the agent {} needs a low fidelity, but none was given", kind.name));
  if (kind.needs.low == LowFidelities::one && given > 1)
    throw Error(Errc::spec, fmt::format("the agent {} uses one low fidelity, but {} were given",
                                        kind.name, given));
}

void require_fidelities(const AgentKind& kind, const Fidelities& fidelities) {
  require_low_fidelities(kind, fidelities.lows().size());
  const EpisodeSimulator& high = fidelities.high();
  if (kind.needs.discrete_spaces &&
      !(high.observation_space().is_discrete() && high.action_space().is_discrete()))
    throw Error(Errc::spec,
                fmt::format("the agent {} needs states and actions that are numbered", kind.name));
  if (kind.needs.model && high.model() == nullptr)
    throw Error(Errc::spec, fmt::format("the agent {} needs to know the distribution behind the "
                                        "high fidelity, but this one only gives episodes",
                                        kind.name));
}

void require_discount(const AgentKind& kind, double gamma) {
  if (kind.needs.gamma_below_1 && gamma >= 1)
    throw Error(Errc::spec, fmt::format("{} plans, for which gamma must be below 1", kind.name));
}

void require_domain(const AgentKind& kind, bool has_vectors, std::string_view otherwise) {
  if (has_vectors ? static_cast<bool>(kind.build_vectors) : static_cast<bool>(kind.build)) return;
  std::vector<std::string> fitting;
  for (const AgentKind& other : agent_kinds())
    if (has_vectors ? static_cast<bool>(other.build_vectors) : static_cast<bool>(other.build))
      fitting.push_back(other.name);
  throw Error(
      Errc::spec,
      fmt::format("the agent {} needs states and actions that are {}, but those of the "
                  "problem are {}; take one of {}{}{}",
                  kind.name, has_vectors ? "numbered" : "vectors",
                  has_vectors ? "vectors" : "numbered", fmt::join(fitting, ", "),
                  has_vectors ? ", or divide the space into cells by a grid" : "", otherwise));
}

NamedValues take_variant(const AgentKind& kind, NamedValues& given) {
  const auto found = given.find("variant");
  if (found == given.end()) return {};
  if (kind.variants.empty()) throw Error(Errc::spec, fmt::format("{} has no variants", kind.name));
  const std::string name = plain_text(found->second);
  given.erase(found);
  const auto variant = std::ranges::find(kind.variants, name, &Shorthand::name);
  if (variant == kind.variants.end()) {
    std::vector<std::string> names;
    for (const Shorthand& known : kind.variants) names.push_back(known.name);
    throw Error(Errc::spec, fmt::format("variant is '{}', but must be one of {}{}", name,
                                        fmt::join(names, ", "), did_you_mean(name, names)));
  }
  NamedValues of_problem;
  for (const auto& [key, value] : variant->values) {
    const bool own =
        std::ranges::find(kind.parameters, key, &ParameterInfo::name) != kind.parameters.end();
    (own ? given : of_problem).try_emplace(key, value);
  }
  return of_problem;
}

std::unique_ptr<TabularAgent> build_checked(const AgentKind& kind, const Fidelities& fidelities,
                                            const Parameters& parameters,
                                            const AgentSetting& setting) {
  require_domain(kind, false);
  require_fidelities(kind, fidelities);
  require_discount(kind, setting.gamma);
  auto agent = kind.uses_low_fidelity()
                   ? kind.build(fidelities, parameters, setting)
                   : kind.build(Fidelities(fidelities.shared_high(), std::vector<LowFidelity>()),
                                parameters, setting);
  if (!agent) throw Error(Errc::usage, fmt::format("build of the agent {} made none", kind.name));
  return agent;
}

std::unique_ptr<VectorAgent> build_checked(const AgentKind& kind, const VectorFidelities& pair,
                                           const Parameters& parameters,
                                           const AgentSetting& setting) {
  require_domain(kind, true);
  require_low_fidelities(kind, pair.has_low() ? 1 : 0);
  require_discount(kind, setting.gamma);
  auto agent = kind.build_vectors(
      kind.uses_low_fidelity() ? pair : VectorFidelities(pair.shared_high()), parameters, setting);
  if (!agent) throw Error(Errc::usage, fmt::format("build of the agent {} made none", kind.name));
  return agent;
}

std::unique_ptr<TabularAgent> build_agent(const AgentKind& kind, const Fidelities& fidelities,
                                          NamedValues given, const AgentSetting& setting) {
  require_fidelities(kind, fidelities);
  take_variant(kind, given);
  if (kind.complete) kind.complete(given);
  return build_checked(kind, fidelities, Parameters(kind.name, kind.parameters, given), setting);
}

}  // namespace hilo
