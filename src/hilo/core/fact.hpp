#pragma once

#include <cstdint>
#include <string>

namespace hilo {

// A number worth knowing about a problem or a run, such as a realised signal-to-noise ratio.
struct Fact {
  std::string name;
  double value;
};

enum class Better : std::uint8_t { higher, lower, neither };

enum class Measured : std::uint8_t {
  at_tests,        // at every test
  at_exact_tests,  // at tests where exact values are computed: test.exact_every
  at_end,          // once, after the last episode
};

// Describes a fact of a run, for lists and for the axes of plots.
struct FactInfo {
  std::string name;
  std::string description;
  std::string axis = {};  // the axis label of a curve; empty: the name
  Better better = Better::neither;
  Measured measured = Measured::at_tests;
};

}  // namespace hilo
