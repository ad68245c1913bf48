#pragma once

#include "bindings.hpp"
#include "hilo/env/fidelity_pair.hpp"

namespace hilo::python {

// Lets Python's garbage collector see through an object of the engine: a function that is a
// simulator may well refer to the study that was made with it. `visit_members(object, visit)` hands
// every Python object that it owns to visit; what it returns other than 0 ends the visit.
template <class T, int (*visit_members)(const T&, visitproc, void*)>
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (PyObject** dict = _PyObject_GetDictPtr(self); dict != nullptr) Py_VISIT(*dict);
  if (!nb::inst_ready(self)) return 0;  // not constructed yet
  return visit_members(*nb::inst_ptr<T>(self), visit, arg);
}

// Of a pair: the Python objects that its simulators are, if they are.
inline int visit_pair(const FidelityPair& pair, visitproc visit, void* arg) {
  Py_VISIT(nb::find(&pair.high()).ptr());
  Py_VISIT(nb::find(&pair.low()).ptr());
  return 0;
}

}  // namespace hilo::python
