#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>

namespace hilo::python {

class PythonSource;

// Keeps track of what the engine does for Python: work on other threads, and simulators that hold
// Python objects. When the interpreter is about to end, the work is stopped and waited for, and the
// simulators release their objects. They must, because a function that is a simulator may refer to
// what was made with it, and the garbage collector cannot see such a cycle through C++.
namespace live {

inline std::atomic<int> works = 0;         // calls of run_polling
inline std::atomic<int> stopping = 0;      // how many of these were told to stop
inline std::atomic<bool> at_exit = false;  // all were told to stop

inline bool must_stop() { return stopping > 0 || at_exit; }

void add(const PythonSource* source);
void remove(const PythonSource* source);
// An object that the engine keeps. When Python ends, the object is released and replaced by None.
// Needs the GIL; destroying the result does not.
std::shared_ptr<nanobind::object> keep(nanobind::object object);
void end();  // needs the GIL; called once, by the package's atexit hook

}  // namespace live
}  // namespace hilo::python
