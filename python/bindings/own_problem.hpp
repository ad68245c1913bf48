#pragma once

#include "bindings.hpp"
#include "hilo/experiment/spec.hpp"

// Specs that Python makes from data, and simulators of the user as their problems.
namespace hilo::python {

// A problem that exists only in this process, with the text that identifies it in a store.
struct OwnProblem {
  std::shared_ptr<const ProblemKind> kind;
};

inline std::shared_ptr<const ProblemKind> kind_of(const OwnProblem* own) {
  return own != nullptr ? own->kind : nullptr;
}

// A table of a spec from Python: its values, and the lists of its sweep.
using SweptValues = std::map<std::string, std::vector<Value>>;
using PythonTable = std::pair<NamedValues, SweptValues>;

inline SpecTable to_table(const PythonTable& table) {
  return {.values = table.first, .sweep = {table.second.begin(), table.second.end()}};
}

}  // namespace hilo::python
