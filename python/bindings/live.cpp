#include "live.hpp"

#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "python_simulator.hpp"

namespace hilo::python {
namespace live {
namespace {

std::mutex sources_mutex;
std::set<const PythonSource*>& sources() {
  static std::set<const PythonSource*> all;
  return all;
}

std::vector<std::weak_ptr<nb::object>>& kept() {
  static std::vector<std::weak_ptr<nb::object>> all;
  return all;
}

}  // namespace

std::shared_ptr<nb::object> keep(nb::object object) {
  const std::shared_ptr<nb::object> made(new nb::object(std::move(object)), [](nb::object* o) {
    if (!Py_IsInitialized()) {
      o->release();  // Python has ended, and its objects no longer exist
      delete o;
      return;
    }
    const nb::gil_scoped_acquire gil;
    delete o;
  });
  const std::lock_guard lock(sources_mutex);
  std::erase_if(kept(), [](const auto& one) { return one.expired(); });
  kept().push_back(made);
  return made;
}

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
  std::vector<nb::object> let_go;  // destroyed without the lock: that may remove sources
  {
    const std::lock_guard lock(sources_mutex);
    for (const PythonSource* source : sources()) let_go.push_back(source->let_go());
    for (const auto& one : kept())
      if (const auto object = one.lock()) let_go.push_back(std::exchange(*object, nb::none()));
  }
}

}  // namespace live
}  // namespace hilo::python
