#pragma once

#include "hilo/agent/catalogue.hpp"

// The agents that hilo comes with, in the order of `hilo list`: each has its kind beside it, as in
// `AgentKind mcrl_kind()` of mcrl.cpp. A new one adds its line here, and nothing else elsewhere.
#define HILO_AGENT_KINDS(KIND) \
  KIND(mcrl)                   \
  KIND(mfmcrl)                 \
  KIND(q_learning)             \
  KIND(expected_sarsa)         \
  KIND(dyna_q)                 \
  KIND(transfer)               \
  KIND(low_only)               \
  KIND(bayes)                  \
  KIND(bayes_high)             \
  KIND(mfrl)                   \
  KIND(rmax)

namespace hilo {

#define HILO_DECLARE_KIND(name) AgentKind name##_kind();
HILO_AGENT_KINDS(HILO_DECLARE_KIND)
#undef HILO_DECLARE_KIND

}  // namespace hilo
