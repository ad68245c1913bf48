#pragma once

#include <sys/types.h>

#include <cstdint>

// For child_process.cpp only: the process between this one and a program that it has started.
namespace hilo {

// Everything is prepared before the fork, because in a process with several threads the child may
// only make system calls.
struct SupervisedProgram {
  const char* file;
  char* const* arguments;
  char* const* environment;
  const char* directory;  // null: the current one
  std::uint64_t memory_bytes;
  int input, output, errors;                     // its standard streams
  const char *fifo_in, *fifo_out, *fifo_folder;  // removed at the end
  int others[5];                                 // the other ends, which are not the supervisor's
  int lifeline;                                  // at its end the program is ended
  int report;                                    // receives an EndReport
};

// What the supervisor says when the program has ended.
struct EndReport {
  pid_t group = 0;      // sent first, by itself, as soon as the program runs
  int wait_status = 0;  // as by waitpid
  int exec_error = 0;   // errno, if the program could not be started
};

// The whole life of the supervisor, called in a fresh fork. Never returns.
[[noreturn]] void supervise(const SupervisedProgram& program);

}  // namespace hilo
