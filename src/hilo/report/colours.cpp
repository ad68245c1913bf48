#include "hilo/report/colours.hpp"

#include "hilo/report/variants.hpp"

namespace hilo {

AgentColours::AgentColours(const Results& results) {
  const auto& agents = results.agents();
  first_free_ = !agents.empty() && results.kind_of(agents[0]) == kBaselineKind ? 0 : 1;
  for (const std::string& agent : agents)
    if (places_.try_emplace(without_variant(agent), first_free_).second) ++first_free_;
}

std::size_t AgentColours::place(const std::string& agent) const {
  const auto found = places_.find(without_variant(agent));
  return found == places_.end() ? first_free_ : found->second;
}

bool AgentColours::is_dashed(const std::string& agent) const {
  return agent.ends_with("as-written") || place(agent) >= kNumColours;
}

}  // namespace hilo
