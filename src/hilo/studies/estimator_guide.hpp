#pragma once

#include <filesystem>
#include <string>

#include "hilo/store/store.hpp"

namespace hilo {

// The guide to the estimators as Markdown, from the study `estimators`: which estimator to use
// when, one table and one picture. `command` is the command that made the guide, `figure` the
// folder of the picture relative to it. Throws if the store lacks an experiment of the study.
std::string make_estimator_guide(const Store& store, const std::string& command,
                                 const std::string& figure);

// Draws the picture as SVG, PDF and PNG and returns the paths.
std::vector<std::filesystem::path> draw_estimator_guide(const Store& store,
                                                        const std::filesystem::path& folder);
inline constexpr const char* kEstimatorFigure = "estimator-gains";

}  // namespace hilo
