#pragma once

#include <functional>

namespace hilo {

// The program `hilo` with all of its commands. A main of your own that gives it a function which
// adds kinds of problems, agents, estimators or metrics to the catalogues is a hilo that knows
// them:
//
//   int main(int argc, char** argv) {
//     return hilo::run_program(argc, argv, [] { hilo::add_agent_kind(my_agent_kind()); });
//   }
//
// Returns the exit code (docs/usage.md). It handles signals: nothing else should.
int run_program(int argc, char** argv, const std::function<void()>& add_kinds = {});

}  // namespace hilo
