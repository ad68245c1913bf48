#include "hilo/agent/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hilo/agent/kinds.hpp"
#include "hilo/core/error.hpp"

namespace hilo {
namespace {

const std::vector<AgentKind>& all_kinds() {
  static const std::vector<AgentKind> kKinds = [] {
    std::vector<AgentKind> all;
    for (const auto& family :
         {monte_carlo_kinds(), temporal_difference_kinds(), model_based_kinds()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return kKinds;
}

}  // namespace

void require_fidelities(const AgentKind& kind, const Fidelities& fidelities) {
  const std::size_t given = fidelities.lows().size();
  if (kind.uses_low_fidelity && given == 0)
    throw Error(Errc::spec,
                fmt::format("the agent {} needs a low fidelity, but none was given", kind.name));
  if (kind.uses_low_fidelity && !kind.takes_several && given > 1)
    throw Error(Errc::spec, fmt::format("the agent {} uses one low fidelity, but {} were given",
                                        kind.name, given));
}

std::span<const AgentKind> agent_kinds() { return all_kinds(); }

const AgentKind& agent_kind(std::string_view name) {
  std::vector<std::string> known;
  for (const AgentKind& kind : agent_kinds()) {
    if (kind.name == name) return kind;
    known.push_back(kind.name);
  }
  throw Error(Errc::spec, fmt::format("unknown agent kind '{}'{} (known: {})", name,
                                      did_you_mean(name, known), fmt::join(known, ", ")));
}

}  // namespace hilo
