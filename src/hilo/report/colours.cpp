#include "hilo/report/colours.hpp"

#include <algorithm>

#include "hilo/report/variants.hpp"

namespace hilo {

AgentColours::AgentColours(const Results& results) {
  const auto& agents = results.agents();
  first_free_ = !agents.empty() && results.kind_of(agents[0]) == kBaselineKind ? 0 : 1;
  std::set<std::string> variants;
  for (const std::string& agent : agents)
    variants.insert(paper_variant(results.configuration_of(agent)));
  const bool both = variants.contains("as-written") && variants.contains("as-published");

  std::map<std::string, std::size_t> shared;  // by common_to_variants
  std::set<std::string> taken;
  for (const std::string& agent : agents) {
    const Configuration& configuration = results.configuration_of(agent);
    const std::string variant = paper_variant(configuration);
    if (both && variant == "as-written") written_.insert(agent);
    // Two agents with the same configuration but different labels get different colours.
    const std::string common = common_to_variants(configuration);
    const bool shares = !variant.empty() && taken.insert(variant + common).second;
    const auto [place, is_new] =
        shares ? shared.try_emplace(common, first_free_) : places_.try_emplace(agent, first_free_);
    places_[agent] = place->second;
    if (is_new) ++first_free_;
  }
}

std::size_t AgentColours::place(const std::string& agent) const {
  const auto found = places_.find(agent);
  return found == places_.end() ? first_free_ : found->second;
}

bool AgentColours::is_dashed(const std::string& agent) const {
  return written_.contains(agent) || place(agent) >= kNumColours;
}

}  // namespace hilo
