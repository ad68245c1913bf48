#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hilo/store/store.hpp"

namespace hilo {

// The guide to the agents as Markdown, from the study `contest`: which agent to use when, how far
// each is checked, tables, a matrix and pictures. `command` is the command that made the guide,
// `figures` the folder of the pictures relative to it. Throws if the store has no results of the
// study.
std::string make_agent_guide(const Store& store, const std::string& command,
                             const std::string& figures);

// Draws the pictures as SVG, PDF and PNG and returns their paths.
std::vector<std::filesystem::path> draw_agent_guide(const Store& store,
                                                    const std::filesystem::path& folder);

}  // namespace hilo
