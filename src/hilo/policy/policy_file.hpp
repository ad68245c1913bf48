#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hilo/env/grid_source.hpp"
#include "hilo/env/policy.hpp"
#include "hilo/policy/artifact.hpp"

namespace hilo {

// A policy as `hilo learn` writes it (docs/learn.md): a table of greedy actions and values, for
// states that are numbered, or that are cells of a grid.
struct SavedPolicy {
  std::string name;
  ValueTable values;
  std::vector<std::vector<Action>> greedy;        // [s], not empty, rising
  std::shared_ptr<const Grid> grid, action_grid;  // null: numbered
  std::string hash;                               // of what it does

  // As a policy for a simulator with these spaces. Throws Errc::usage, with what does not fit.
  std::shared_ptr<const Policy> on(const Space& observations, const Space& actions) const;
  // The table alone, whatever its states stand for.
  std::shared_ptr<const Policy> table() const;
};

// Throws Errc::data unless the text is such a policy; `where` names it.
SavedPolicy parse_policy(const std::string& text, const std::string& where);
SavedPolicy load_policy(const std::filesystem::path& file);
// The text of a policy file of any kind. Throws Errc::data if it is too long.
std::string read_policy_text(const std::filesystem::path& file);

// Every action with the same probability, or uniformly in a box, whose bounds must be finite.
std::shared_ptr<const Policy> uniform_policy(const Space& observations, const Space& actions);

}  // namespace hilo
