#include "cli/report_files.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "hilo/core/error.hpp"
#include "hilo/core/output_file.hpp"
#include "hilo/report/experiment_report.hpp"
#include "hilo/report/markdown.hpp"
#include "hilo/report/page.hpp"

namespace hilo::cli {
namespace {

namespace fs = std::filesystem;

bool is_page(const std::string& out) { return fs::path(out).extension() == ".html"; }

// Quotes a word for the shell where necessary.
std::string word(const std::string& text) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=+,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_of(const ReportRequest& request) {
  std::string command =
      fmt::format("hilo report {} --out {}", word(request.store), word(request.out));
  if (!request.only.empty()) command += fmt::format(" --experiment {}", word(request.only));
  if (!request.figures.empty()) command += fmt::format(" --figures {}", word(request.figures));
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
  const fs::path from = fs::absolute(folder.empty() ? "." : folder).lexically_normal();
  std::map<std::string, std::string> pictures;
  for (const auto& [experiment, picture] : request.pictures)
    pictures[experiment] = fs::absolute(picture).lexically_relative(from).string();
  const std::string text =
      is_page(request.out) ? make_page(store, source) : make_markdown(store, source, pictures);
  AtomicFile file(
      request.out,
      {.mark = report_mark(request.out), .inputs = {request.store}, .force = request.force});
  file.out() << text;
  file.commit();
}

Drawn draw_what_can_be(const Results& results, bool whole, const fs::path& folder) {
  Drawn drawn;
  for (const FigureKind figure : figures_of(results, whole)) try {
      const auto files = draw_figure(results, figure, whole, folder);
      drawn.files.insert(drawn.files.end(), files.begin(), files.end());
      if (figure == (whole ? FigureKind::learning : FigureKind::ratios)) drawn.main = files.back();
    } catch (const Error& e) {
      drawn.failures.emplace_back(e.what());
    }
  return drawn;
}

Drawn draw_metric(const Results& results, const std::string& metric, const fs::path& folder) {
  Drawn drawn;
  try {
    drawn.files =
        draw_curves(results, metric, folder, fmt::format("{}-{}", results.experiment(), metric));
  } catch (const Error& e) {
    drawn.failures.emplace_back(e.what());
  }
  return drawn;
}

std::vector<fs::path> draw_all(const Store& store, const Results& results, const fs::path& folder) {
  const bool whole = SharedRuns(store, store.experiments()).whole_of(results.experiment()).empty();
  Drawn drawn = draw_what_can_be(results, whole, folder);
  if (!drawn.failures.empty()) throw Error(Errc::io, drawn.failures[0]);
  return std::move(drawn.files);
}

}  // namespace hilo::cli
