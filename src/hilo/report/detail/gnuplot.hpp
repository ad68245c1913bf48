#pragma once

#include <filesystem>
#include <string>
#include <vector>

// For the sources of this folder only.
namespace hilo {

// Text as one of gnuplot's strings, with whatever is special in them as a number: a label from a
// store must come out as it is, and must not be able to run anything.
std::string gnuplot_quoted(const std::string& text);

// The same for a label of a tic, which gnuplot takes for a format of numbers: a % begins one.
std::string gnuplot_tic(const std::string& text);

// A name as a figure has room for it: what is too long loses its middle, as names that belong
// together mostly differ at their ends.
std::string fit_figure(const std::string& name);

// A figure in gnuplot's language: data and settings, then what stands behind `plot`.
struct GnuplotScript {
  std::string settings, plot;
};

// Draws it as STEM.svg, STEM.pdf and STEM.png in the folder, beside the script STEM.gnuplot that
// made them and that makes them again beside itself wherever it is run from. Nothing but the script
// decides what they look like, neither ~/.gnuplot nor the environment. Returns their paths. Throws
// if gnuplot is not there or fails, and then leaves no half-drawn figure behind.
std::vector<std::filesystem::path> run_gnuplot(const GnuplotScript& script,
                                               const std::filesystem::path& folder,
                                               const std::string& stem);

}  // namespace hilo
