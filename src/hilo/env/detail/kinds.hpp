#pragma once

#include "hilo/env/catalogue.hpp"

// The problems that hilo comes with, in the order of `hilo list`: each has its kind in a file of
// its own. A new one adds its line here, and nothing else elsewhere.
#define HILO_PROBLEM_KINDS(KIND) \
  KIND(random_mdp)               \
  KIND(table)                    \
  KIND(docking)                  \
  KIND(nas)

namespace hilo {

#define HILO_DECLARE_KIND(name) ProblemKind name##_kind();
HILO_PROBLEM_KINDS(HILO_DECLARE_KIND)
#undef HILO_DECLARE_KIND

}  // namespace hilo
