#pragma once

#include "hilo/agent/catalogue.hpp"

// The built-in agents, in the order of `hilo list`. Each defines its kind beside its class, as in
// `AgentKind mcrl_kind()` of mcrl.cpp. A new agent needs a line here and no change elsewhere.
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
  KIND(rmax)                   \
  KIND(corrected)              \
  KIND(corrected_high)         \
  KIND(direct)                 \
  KIND(pg)                     \
  KIND(mfpg)

namespace hilo {

#define HILO_DECLARE_KIND(name) AgentKind name##_kind();
HILO_AGENT_KINDS(HILO_DECLARE_KIND)
#undef HILO_DECLARE_KIND

}  // namespace hilo
