#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hilo/store/store.hpp"

namespace hilo {

// What stands at the beginning of every page and of every Markdown file that hilo writes.
inline std::string report_mark(const std::filesystem::path& file) {
  return file.extension() == ".html" ? "· hilo</title>" : "Written by `hilo ";
}

// What a report says about its own making.
struct ReportSource {
  std::string store;                     // the store's name, as it was given
  std::string command;                   // that makes the same report again
  std::string date;                      // of making it
  std::vector<std::string> experiments;  // those to show
};

// All results of the experiments as one HTML page that needs nothing else: charts, tables, verdicts
// and where they come from.
std::string make_page(const Store& store, const ReportSource& source);

}  // namespace hilo
