#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>

namespace hilo::python {

class PythonSource;

// What is going on in the engine on behalf of Python: work on other threads, and simulators that
// hold objects of Python. When the interpreter is about to end, the work is stopped and waited for,
// and the simulators let go of their objects: a function that is a simulator may refer to what was
// made with it, and the garbage collector cannot see such a ring through C++.
namespace live {

inline std::atomic<int> works = 0;         // calls of run_polling
inline std::atomic<int> stopping = 0;      // of them, how many were told to stop
inline std::atomic<bool> at_exit = false;  // all are

inline bool must_stop() { return stopping > 0 || at_exit; }

void add(const PythonSource* source);
void remove(const PythonSource* source);
// An object that the engine keeps. At the end it is let go of, and None from then on. Needs the
// GIL; whoever holds it last does not.
std::shared_ptr<nanobind::object> keep(nanobind::object object);
void end();  // needs the GIL; called once, by the package's atexit hook

}  // namespace live
}  // namespace hilo::python
