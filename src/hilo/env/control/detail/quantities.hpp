#pragma once

#include <vector>

#include "hilo/env/control/control.hpp"

// For the sources of this folder only.
namespace hilo {

// A number of one system, and its name in a spec.
struct Quantity {
  const char* name;
  const char* description;
  double ControlOptions::*member;
  double high, low;  // defaults of the two sides
  double least;
};

std::vector<Quantity> quantities_of(ControlSystem system);

}  // namespace hilo
