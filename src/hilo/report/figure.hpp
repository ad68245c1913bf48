#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hilo/report/results.hpp"

namespace hilo {

// The figures of an experiment, as files for papers and slides.
enum class FigureKind : std::uint8_t { learning, ratios, correlation, optimal_actions };

// Those that the results can fill, the main one first. Without learning curves where another
// experiment shows them.
std::vector<FigureKind> figures_of(const Results& results, bool with_learning);

std::string caption_of(FigureKind figure);

// Files are called after the experiment; all but the main figure say what they show.
std::string figure_name(const Results& results, FigureKind figure, bool with_learning);

// Draws with gnuplot NAME.svg, NAME.pdf and NAME.png in the folder, beside the script NAME.gnuplot.
// Returns their paths. Throws if gnuplot is not there or fails.
std::vector<std::filesystem::path> draw_figure(const Results& results, FigureKind figure,
                                               bool with_learning,
                                               const std::filesystem::path& folder);

// The same for curves of any metric over episodes: mean and 95 % interval over seeds.
std::vector<std::filesystem::path> draw_curves(const Results& results, const std::string& metric,
                                               const std::filesystem::path& folder,
                                               const std::string& stem);

}  // namespace hilo
