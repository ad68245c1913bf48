#pragma once

#include <string>
#include <vector>

#include "hilo/report/analysis.hpp"

namespace hilo {

// As-written against as-published in three sentences, with what was measured; nothing unless the
// experiment has agents of both variants.
std::vector<std::string> explain_variants(const Results& results, const Analysis& analysis);

// "MFMCRL m=5" of "MFMCRL m=5 as-written": variants of one agent share it.
std::string without_variant(const std::string& agent);

}  // namespace hilo
