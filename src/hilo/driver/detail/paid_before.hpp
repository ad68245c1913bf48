#pragma once

#include <cstdint>
#include <vector>

#include "hilo/driver/learner.hpp"

// For the sources of this folder only: episodes that other runs have paid for.
namespace hilo {

// Finds the run of a spec in its journal, or begins it. A new run gets the episodes of files.reuse
// as its first ones; a run that has them already stays as it is. Throws, and begins nothing, if the
// agent cannot learn from episodes of other policies, if the journals have none of the same
// expensive simulator, and if the run has begun without them.
std::int64_t begin_run(const LearnSpec& spec, const LearnFiles& files, Journal& journal);

}  // namespace hilo
