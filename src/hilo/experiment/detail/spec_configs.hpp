#pragma once

#include <fmt/format.h>

#include "hilo/core/error.hpp"
#include "hilo/experiment/spec.hpp"

// For the sources of this folder only: from tables of agents and problems to configurations.
namespace hilo {

// Runs `action` and puts the place in the spec in front of its errors, which do not know it.
template <class F>
decltype(auto) in_place(const std::string& where, F&& action) {
  try {
    return action();
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("{}: {}", where, e.what()));
  }
}

// Removes the text of this key from the values and returns it.
std::string take_text(NamedValues& values, const std::string& key, const std::string& where);

// Everything that is the same for all agents.
struct SpecCommon {
  std::string where;
  std::shared_ptr<const ProblemKind> problem_kind;
  std::vector<NamedValues> problems;
  Parameters train, test;
};

// Adds every agent on every problem to the spec, checked and labelled.
void add_configs(const SpecCommon& common, const std::vector<SpecTable>& agents, Spec& spec);

}  // namespace hilo
