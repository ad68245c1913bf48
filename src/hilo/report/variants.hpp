#pragma once

#include <string>
#include <vector>

#include "hilo/report/analysis.hpp"

namespace hilo {

// As-written against as-published in three sentences, with what was measured; nothing unless the
// experiment has agents of both variants.
std::vector<std::string> explain_variants(const Results& results, const Analysis& analysis);

// The paper's variant that a configuration spells, "as-written" or "as-published", whatever the
// agent's label; "" for all else.
std::string paper_variant(const Configuration& configuration);

// What the two variants of one agent have in common: its configuration without the keys that a
// variant sets. Of an agent that is neither, its configuration.
std::string common_to_variants(const Configuration& configuration);

}  // namespace hilo
