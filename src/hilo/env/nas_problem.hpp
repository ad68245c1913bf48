#pragma once

#include "hilo/env/registry.hpp"

namespace hilo {

// The problem kind "nas-bench-201".
ProblemKind nas_problem_kind();

}  // namespace hilo
