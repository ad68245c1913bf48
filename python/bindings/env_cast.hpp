#pragma once

#include "bindings.hpp"
#include "hilo/env/catalogue.hpp"

namespace hilo::python {

// Casts to Simulator if possible: most high fidelities can also be started at any state.
inline nb::object cast_high(const HighSimulator& high) {
  if (auto simulator = std::dynamic_pointer_cast<const Simulator>(high)) return nb::cast(simulator);
  return nb::cast(high);
}

}  // namespace hilo::python
