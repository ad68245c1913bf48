#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hilo/report/results.hpp"

namespace hilo {

// The figures of an experiment, as files for papers and slides.
enum class FigureKind : std::uint8_t { learning, ratios, correlation, optimal_actions };

// The figures for which there are results, the main one first. `with_learning` is false if another
// experiment of the report shows the learning curves.
std::vector<FigureKind> figures_of(const Results& results, bool with_learning);

std::string caption_of(FigureKind figure);

// The name of the figure's files: the experiment's name, with a suffix for all but the main figure.
std::string figure_name(const Results& results, FigureKind figure, bool with_learning);

// Draws NAME.svg, NAME.pdf and NAME.png with gnuplot, beside the script NAME.gnuplot in the folder.
// Returns the paths of the three pictures. Throws if gnuplot is not installed or fails.
std::vector<std::filesystem::path> draw_figure(const Results& results, FigureKind figure,
                                               bool with_learning,
                                               const std::filesystem::path& folder);

// The same for the curves of any metric over episodes: mean and 95 % interval over seeds.
std::vector<std::filesystem::path> draw_curves(const Results& results, const std::string& metric,
                                               const std::filesystem::path& folder,
                                               const std::string& stem);

}  // namespace hilo
