#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hilo/core/parameters.hpp"
#include "hilo/env/program/program_source.hpp"
#include "hilo/env/simulator.hpp"
#include "hilo/env/vector_simulator.hpp"

namespace hilo {

// Programs as simulators, for callers that have no spec. The options are the keys of [problem.high]
// or [[problem.low]] (docs/programs.md), of which `map` has no meaning here.
std::shared_ptr<const EpisodeSimulator> make_program_high(const NamedValues& options);
std::shared_ptr<const Simulator> make_program_low(const NamedValues& options);
// A simulator of a problem of this kind as it is, without a grid, for policies that act on its own
// observations.
struct ProgramVectors {
  std::shared_ptr<const VectorSimulator> simulator;
  std::string name;
  bool starts_anywhere = false;  // it is a program that knows `start`
  bool has_map = false;          // its observations are not those of the expensive one
  std::uint64_t retries = 0;
};
// The expensive one first. The parameters are those of the problem, checked.
std::vector<ProgramVectors> make_program_vectors(const NamedValues& problem);
// How the program is run.
ProgramOptions program_options(const NamedValues& options);
// A text that stands for the program, its inputs and the options that decide results.
std::string program_identity(const NamedValues& options);

}  // namespace hilo
