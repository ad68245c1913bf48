#pragma once

#include <memory>
#include <string>

#include "hilo/core/parameters.hpp"
#include "hilo/env/program/program_source.hpp"
#include "hilo/env/simulator.hpp"

namespace hilo {

// Programs as simulators, for callers that have no spec. The options are the keys of [problem.high]
// or [[problem.low]] (docs/programs.md), of which `map` has no meaning here.
std::shared_ptr<const EpisodeSimulator> make_program_high(const NamedValues& options);
std::shared_ptr<const Simulator> make_program_low(const NamedValues& options);
// How the program is run.
ProgramOptions program_options(const NamedValues& options);
// A text that stands for the program, its inputs and the options that decide results.
std::string program_identity(const NamedValues& options);

}  // namespace hilo
