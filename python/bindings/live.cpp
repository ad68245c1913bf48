#include "live.hpp"

#include <chrono>
#include <set>
#include <thread>

#include "python_simulator.hpp"

namespace hilo::python {
namespace live {
namespace {

std::mutex sources_mutex;
std::set<const PythonSource*>& sources() {
  static std::set<const PythonSource*> all;
  return all;
}

}  // namespace

void add(const PythonSource* source) {
  const std::lock_guard lock(sources_mutex);
  sources().insert(source);
}

void remove(const PythonSource* source) {
  const std::lock_guard lock(sources_mutex);
  sources().erase(source);
}

void end() {
  at_exit = true;
  {
    const nb::gil_scoped_release release;
    while (works > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::vector<nb::object> let_go;  // what goes with them may remove sources
  {
    const std::lock_guard lock(sources_mutex);
    for (const PythonSource* source : sources()) let_go.push_back(source->let_go());
  }
}

}  // namespace live
}  // namespace hilo::python
