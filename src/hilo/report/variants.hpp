#pragma once

#include <string>
#include <vector>

#include "hilo/report/analysis.hpp"

namespace hilo {

// Compares as-written and as-published agents on random MDPs in two or three paragraphs, with the
// measured values. Empty unless the experiment has an agent in both variants, with at least two
// common seeds.
std::vector<std::string> explain_variants(const Results& results, const Analysis& analysis);

// The paper's variant whose settings a configuration has, "as-written" or "as-published",
// independent of the agent's label; "" if it is neither.
std::string paper_variant(const Configuration& configuration);

// What the two variants of one agent have in common: the configuration without the keys that a
// variant sets. The whole configuration if it is neither variant.
std::string common_to_variants(const Configuration& configuration);

}  // namespace hilo
