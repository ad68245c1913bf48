#pragma once

#include "hilo/env/catalogue.hpp"

// The built-in problems, in the order of `hilo list`. Each kind is defined in a file of its own. A
// new one must be added here, and nowhere else.
#define HILO_PROBLEM_KINDS(KIND) \
  KIND(random_mdp)               \
  KIND(table)                    \
  KIND(docking)                  \
  KIND(nas)                      \
  KIND(program)                  \
  KIND(pendulum)                 \
  KIND(cart_pole)                \
  KIND(acrobot)

namespace hilo {

#define HILO_DECLARE_KIND(name) ProblemKind name##_kind();
HILO_PROBLEM_KINDS(HILO_DECLARE_KIND)
#undef HILO_DECLARE_KIND

}  // namespace hilo
