#pragma once

#include <toml++/toml.h>

#include <string>

#include "hilo/env/catalogue.hpp"
#include "hilo/experiment/spec_data.hpp"

// For the sources of this folder only: specs as TOML.
namespace hilo {

// Throws unless it has the tables of a spec and no others, each with plain values.
SpecData read_spec(const toml::table& root, const std::string& where);

// An error message of a spec, with the line of the key that it is about, or of its table, behind
// the name of the file. Unchanged where that cannot be told.
std::string with_line(const toml::table& root, const std::string& where,
                      const std::string& message);

// Sets one key of the file's table: "agent.1.low_rollouts=5", "train.episodes=100".
void apply_override(toml::table& root, const std::string& text);

// Where files are is nobody's business but the user's: what is kept of a spec names the file alone.
// Whether anything was changed.
bool shorten_paths(toml::table& root, const ProblemKind& kind);

}  // namespace hilo
