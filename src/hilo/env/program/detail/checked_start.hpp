#pragma once

#include <cstdint>
#include <string>

#include "hilo/env/program/protocol.hpp"
#include "hilo/env/step_source.hpp"

// For conformance.cpp only: checks of what only a cheap simulator must be able to do. They return
// what they found: nothing if all is well, and a text that begins with '-' if they cannot tell.
namespace hilo {

// Started in the middle of a path, a deterministic simulator goes on as the path did. Otherwise its
// observation is not its whole state.
std::string start_continues(StepSource& source, const ProgramFacts& facts, std::uint32_t seed);
// The request for a reward gives what the step gave.
std::string rewards_agree(StepSource& source, std::uint32_t seed);

}  // namespace hilo
