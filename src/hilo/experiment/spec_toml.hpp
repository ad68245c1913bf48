#pragma once

#include <toml++/toml.h>
#include <map>
#include <string>
#include <vector>

#include "hilo/core/parameters.hpp"
#include "hilo/env/registry.hpp"

// For the sources of this folder only: a spec as TOML, before anybody knows what its keys mean.
namespace hilo {

using SpecValues = std::map<std::string, Value>;

// A table with its sweep taken apart: fixed values, and lists to run through.
struct Section {
  SpecValues values;
  std::vector<std::pair<std::string, std::vector<Value>>> sweep;
};

Section read_section(const toml::table& table, const std::string& where);

// All combinations of the swept values, the first key varying slowest.
// Throws if there are more than a spec may have.
std::vector<SpecValues> expand(const Section& section, const std::string& where);

// An error message of a spec, with the line of the key that it is about, or of its table, behind
// the name of the file. Unchanged where that cannot be told.
std::string with_line(const toml::table& root, const std::string& where,
                      const std::string& message);

// A sub-table of the root, empty if it is not there.
const toml::table& table_of(const toml::table& root, std::string_view key,
                            const std::string& where);

// Takes a name out of the values.
std::string take_text(SpecValues& values, const std::string& key, const std::string& where);

// Sets one key of the file's table: "agent.1.low_rollouts=5", "train.episodes=100".
void apply_override(toml::table& root, const std::string& text);

// Where files are is nobody's business but the user's: what is kept of a spec names the file alone.
// Whether anything was changed.
bool shorten_paths(toml::table& root, const ProblemKind& kind);

}  // namespace hilo
