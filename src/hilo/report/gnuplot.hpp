#pragma once

#include <filesystem>
#include <string>
#include <vector>

// For the sources of this folder only.
namespace hilo {

// Text as one of gnuplot's single-quoted strings, in which nothing but the quote is special: a
// label from a store must not be able to run anything.
std::string gnuplot_quoted(const std::string& text);

// A figure in gnuplot's language: data and settings, then what stands behind `plot`.
struct GnuplotScript {
  std::string settings, plot;
};

// Draws it as STEM.svg, STEM.pdf and STEM.png in the folder, beside the script STEM.gnuplot that
// made them. Returns their paths. Throws if gnuplot is not there or fails.
std::vector<std::filesystem::path> run_gnuplot(const GnuplotScript& script,
                                               const std::filesystem::path& folder,
                                               const std::string& stem);

}  // namespace hilo
