#pragma once

#include "hilo/driver/learner.hpp"

// For the sources of this folder only.
namespace hilo {

FailureReport find_failure_regions(const Journal& journal, std::int64_t run);

}  // namespace hilo
