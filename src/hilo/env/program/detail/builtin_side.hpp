#pragma once

#include <memory>
#include <string>

#include "hilo/env/fidelities.hpp"
#include "hilo/env/program/detail/program_side.hpp"

// For the sources of this folder only: one of hilo's own problems as one side of a pair whose other
// side is a program. A problem that is drawn at random is drawn with seed 0.
namespace hilo {

std::shared_ptr<const EpisodeSimulator> builtin_high(const Side& side);
// With the map from the states of the problem's own expensive simulator.
LowFidelity builtin_low(const Side& side);

// A text that stands for the simulator. Throws Errc::spec if its name or its options are wrong.
std::string identity_of_builtin(const Side& side);

}  // namespace hilo
