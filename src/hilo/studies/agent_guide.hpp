#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hilo/store/store.hpp"

namespace hilo {

// All agents side by side, from the study `contest`: which to take when, how far each is checked,
// tables, a matrix and pictures. `command` says how it was made, `figures` where the pictures lie
// as seen from the text. Throws if the store does not hold the study.
std::string make_agent_guide(const Store& store, const std::string& command,
                             const std::string& figures);

// The pictures as SVG, PDF and PNG.
std::vector<std::filesystem::path> draw_agent_guide(const Store& store,
                                                    const std::filesystem::path& folder);

}  // namespace hilo
