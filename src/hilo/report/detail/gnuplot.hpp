#pragma once

#include <filesystem>
#include <string>
#include <vector>

// For the sources of report/ and studies/ only: figures by gnuplot.
namespace hilo {

// Text as a string literal of gnuplot, in which special characters are octal escapes: a label from
// a store must be shown literally and must not be able to run a command.
std::string gnuplot_quoted(const std::string& text);

// The same for the label of a tic, which gnuplot takes for a number format: % is doubled.
std::string gnuplot_tic(const std::string& text);

// Shortens a name to fit into a figure. It loses its middle, because related names mostly differ at
// the end.
std::string fit_figure(const std::string& name);

// A figure in gnuplot's language: data and settings, and the arguments of the command `plot`.
struct GnuplotScript {
  std::string settings, plot;
};

// Draws it as STEM.svg, STEM.pdf and STEM.png in the folder, beside the script STEM.gnuplot. When
// it is run again, from any folder, the script draws the figures again beside itself. Only the
// script decides what they look like, not ~/.gnuplot or the environment. Returns the paths of the
// figures. Throws if gnuplot is not installed or fails, and then leaves no half-drawn figure
// behind.
std::vector<std::filesystem::path> run_gnuplot(const GnuplotScript& script,
                                               const std::filesystem::path& folder,
                                               const std::string& stem);

}  // namespace hilo
