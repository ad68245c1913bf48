#pragma once

#include <toml++/toml.h>

#include <string>

#include "hilo/env/catalogue.hpp"
#include "hilo/experiment/spec_data.hpp"

// For the sources of this folder only: specs as TOML.
namespace hilo {

// Parses the text and applies the overrides. Throws on bad syntax, with the line.
toml::table parse_toml(std::string_view text, const std::string& where,
                       const std::vector<std::string>& overrides);

// A single value. Throws if the node is a table or a list; `what` names it.
Value plain_value(const toml::node& node, const std::string& what);

// Throws unless the root has the tables of a spec and no others, each with plain values.
SpecData read_spec(const toml::table& root, const std::string& where);

// Adds to an error message of a spec, after the name of the file, the line of the key that it is
// about, or of its table. Returns the message unchanged if the line is not known.
std::string with_line(const toml::table& root, const std::string& where,
                      const std::string& message);

// Sets one key of the file's table: "agent.1.low_rollouts=5", "train.episodes=100".
void apply_override(toml::table& root, const std::string& text);

// Shortens paths to file names, because the text that is kept of a spec should not reveal where the
// user's files are. Returns whether anything was changed.
bool shorten_paths(toml::table& root, const ProblemKind& kind);

}  // namespace hilo
