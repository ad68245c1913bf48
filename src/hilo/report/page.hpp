#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hilo/store/store.hpp"

namespace hilo {

// A text near the beginning of every page and Markdown report that hilo writes (Overwrite::mark).
inline std::string report_mark(const std::filesystem::path& file) {
  return file.extension() == ".html" ? "· hilo</title>" : "Written by `hilo ";
}

// What a report says about how it was made.
struct ReportSource {
  std::string store;                     // the store's name, as it was given
  std::string command;                   // the command that makes the same report again
  std::string date;                      // when it was made
  std::vector<std::string> experiments;  // the experiments to show
};

// All results of the experiments as one self-contained HTML page: charts, tables, verdicts and the
// provenance of the results.
std::string make_page(const Store& store, const ReportSource& source);

}  // namespace hilo
