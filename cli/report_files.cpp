#include "cli/report_files.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "hilo/core/csv.hpp"
#include "hilo/core/error.hpp"
#include "hilo/report/experiment_report.hpp"
#include "hilo/report/markdown.hpp"
#include "hilo/report/page.hpp"

namespace hilo::cli {
namespace {

namespace fs = std::filesystem;

bool is_page(const std::string& out) { return fs::path(out).extension() == ".html"; }

std::string command_of(const ReportRequest& request) {
  std::string command = fmt::format("hilo report {} --out {}", request.store, request.out);
  if (!request.only.empty()) command += fmt::format(" --experiment {}", request.only);
  if (!request.figures.empty()) command += fmt::format(" --figures {}", request.figures);
  return command;
}

}  // namespace

void require_report_name(const std::string& out) {
  if (!out.empty() && !is_page(out) && fs::path(out).extension() != ".md")
    throw Error(Errc::usage,
                fmt::format("--out {}: must end in .html for a page or in .md for Markdown", out));
}

void write_report(const Store& store, const ReportRequest& request) {
  const ReportSource source = {
      .store = fs::path(request.store).filename().string(),
      .command = command_of(request),
      .date = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr))),
      .experiments = request.experiments};
  const fs::path folder = fs::path(request.out).parent_path();
  const std::string figures =
      request.figures.empty()
          ? ""
          : fs::path(request.figures).lexically_relative(folder.empty() ? "." : folder).string();
  const std::string text =
      is_page(request.out) ? make_page(store, source) : make_markdown(store, source, figures);
  AtomicFile file(request.out);
  file.out() << text;
  file.commit();
}

std::vector<fs::path> draw_all(const Store& store, const Results& results, const fs::path& folder) {
  const bool whole = same_runs_as(store, results).empty();
  std::vector<fs::path> files;
  for (const FigureKind figure : figures_of(results, whole))
    for (fs::path& file : draw_figure(results, figure, whole, folder))
      files.push_back(std::move(file));
  return files;
}

}  // namespace hilo::cli
