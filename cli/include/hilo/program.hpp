#pragma once

#include <functional>

namespace hilo {

// The program `hilo` with all of its commands. To make a hilo that knows your own kinds of
// problems, agents, estimators or metrics, call it from your own main with a function that adds
// them to the catalogues:
//
//   int main(int argc, char** argv) {
//     return hilo::run_program(argc, argv, [] { hilo::add_agent_kind(my_agent_kind()); });
//   }
//
// Returns the exit code (docs/usage.md). It installs signal handlers, so nothing else in the
// program should.
int run_program(int argc, char** argv, const std::function<void()>& add_kinds = {});

}  // namespace hilo
