#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hilo/report/results.hpp"

namespace hilo {

// Draws the learning curves of an experiment with gnuplot, mean and 95 % interval over seeds, with
// published means as marks, as NAME.svg, NAME.pdf and NAME.png in the folder, beside the script
// NAME.gnuplot that made them. Returns their paths. Throws if gnuplot is not there or fails.
std::vector<std::filesystem::path> draw_learning_curves(const Results& results,
                                                        const std::string& metric,
                                                        const std::filesystem::path& folder);

}  // namespace hilo
