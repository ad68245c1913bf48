#pragma once

namespace hilo {

// The program `hilo` with all of its commands. A main of your own that first adds kinds of
// problems, agents, estimators or metrics to the catalogues, and then calls this, is a hilo that
// knows them:
//
//   int main(int argc, char** argv) {
//     hilo::add_agent_kind(my_agent_kind());
//     return hilo::run_program(argc, argv);
//   }
//
// Returns the exit code (docs/usage.md). It handles signals: nothing else should.
int run_program(int argc, char** argv);

}  // namespace hilo
