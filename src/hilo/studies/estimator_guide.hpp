#pragma once

#include <filesystem>
#include <string>

#include "hilo/store/store.hpp"

namespace hilo {

// All estimators side by side, from the study of that name: which to take when, one table, one
// picture. `command` says how it was made, `figure` where the picture lies as seen from the text.
// Throws if the store does not hold the study.
std::string make_estimator_guide(const Store& store, const std::string& command,
                                 const std::string& figure);

// The picture as SVG, PDF and PNG.
std::vector<std::filesystem::path> draw_estimator_guide(const Store& store,
                                                        const std::filesystem::path& folder);
inline constexpr const char* kEstimatorFigure = "estimator-gains";

}  // namespace hilo
