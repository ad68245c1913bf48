#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hilo/report/figure.hpp"
#include "hilo/store/store.hpp"

namespace hilo::cli {

struct ReportRequest {
  std::string store, out;
  std::string figures;                   // folder with PNGs for Markdown to show; "" for none
  std::vector<std::string> experiments;  // to show
  std::string only;                      // the one that was asked for; "" for all
};

// Throws unless the name says what to write: a page or Markdown. "" is allowed.
void require_report_name(const std::string& out);

// Writes the report, whole or not at all.
void write_report(const Store& store, const ReportRequest& request);

// Every figure of an experiment.
std::vector<std::filesystem::path> draw_all(const Store& store, const Results& results,
                                            const std::filesystem::path& folder);

}  // namespace hilo::cli
