#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hilo/report/figure.hpp"
#include "hilo/store/store.hpp"

namespace hilo::cli {

struct ReportRequest {
  std::string store, out;
  std::string figures;                   // the requested folder; "" for none
  std::vector<std::string> experiments;  // to show
  std::string only;                      // the requested experiment; "" for all
  std::map<std::string, std::filesystem::path> pictures = {};  // main figures, for Markdown to show
  bool force = false;  // replace a file that hilo did not write
};

// Throws unless the name ends in .html for a page or in .md for Markdown. "" is allowed.
void require_report_name(const std::string& out);

// Writes the report completely or not at all.
void write_report(const Store& store, const ReportRequest& request);

// The result of drawing: the files that were written, and one message for each figure that failed.
struct Drawn {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> failures;
  std::filesystem::path main;  // the PNG of the main figure; empty if there is none
};

// Draws every figure of an experiment that can be drawn. `whole` is false if another experiment
// already shows its learning curves.
Drawn draw_what_can_be(const Results& results, bool whole, const std::filesystem::path& folder);

// Draws the learning curves of one metric.
Drawn draw_metric(const Results& results, const std::string& metric,
                  const std::filesystem::path& folder);

// Draws every figure of an experiment. If one fails, throws after the others are drawn.
std::vector<std::filesystem::path> draw_all(const Store& store, const Results& results,
                                            const std::filesystem::path& folder);

}  // namespace hilo::cli
