#pragma once

#include <memory>
#include <string>

#include "hilo/env/policy.hpp"

namespace hilo {

struct ProgramPolicyOptions {
  std::string command;
  double timeout = 60;       // seconds to wait for an answer; 0: for ever
  bool one_process = false;  // for a caller that runs one path at a time, on any threads
};

// A program that is a policy (docs/evaluate.md). For every request line it answers one line:
//
//   begin SEED     ok           an episode begins; SEED is for random numbers of its own
//   act OBS..      ok A..       the action for an observation
//
// or `error TEXT`. Every path that is under way has a process of its own. Messages have the
// program's last words; a program that failed is started anew for the next episode.
std::shared_ptr<const Policy> program_policy(const ProgramPolicyOptions& options,
                                             const Space& observations, const Space& actions);

}  // namespace hilo
