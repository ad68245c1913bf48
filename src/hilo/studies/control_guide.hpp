#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hilo/store/store.hpp"
#include "hilo/studies/control_scale.hpp"

namespace hilo {

// The results of the study `control` as Markdown: scores of all agents on the swing-ups, episodes
// that they need, and paired differences. `command` is the command that made it, `figures` the
// folder of the pictures relative to it. Throws if the store has no results of the study.
// Searching for the ends of the scale takes minutes; tests have a `scale` of their own.
std::string make_control_guide(
    const Store& store, const std::string& command, const std::string& figures,
    const std::function<ControlScale(const std::string& kind)>& scale = control_scale);

// Draws a learning curve for each problem as SVG, PDF and PNG and returns the paths.
std::vector<std::filesystem::path> draw_control_guide(
    const Store& store, const std::filesystem::path& folder,
    const std::function<ControlScale(const std::string& kind)>& scale = control_scale);

}  // namespace hilo
