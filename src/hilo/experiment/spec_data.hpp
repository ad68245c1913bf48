#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hilo/core/parameters.hpp"

namespace hilo {

// Seeds first, first + 1, ..., last.
struct SeedRange {
  std::uint64_t first = 0, last = 0;
  std::uint64_t count() const { return last - first + 1; }
};

// A table of a spec: fixed values, and lists of values to sweep over.
struct SpecTable {
  NamedValues values;
  std::vector<std::pair<std::string, std::vector<Value>>> sweep = {};
};

// A spec as it is written, before its keys are interpreted. It is read from TOML or made by a
// program; make_spec (spec.hpp) checks it.
struct SpecData {
  std::string name;
  SeedRange seeds;
  SpecTable problem, train, test;
  std::vector<SpecTable> agents;
};

// The spec in TOML, as docs/spec.md describes it.
std::string to_toml(const SpecData& data);

// All combinations of the swept values, the first key varying slowest.
// Throws if there are more than a spec may have.
std::vector<NamedValues> expand(const SpecTable& table, const std::string& where);

}  // namespace hilo
