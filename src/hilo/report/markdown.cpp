#include "hilo/report/markdown.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "hilo/core/version.hpp"
#include "hilo/report/diagnosis_report.hpp"
#include "hilo/report/experiment_report.hpp"
#include "hilo/report/figure.hpp"

namespace hilo {
std::string escape_markdown(const std::string& text) {
  const bool has_link = text.find("](") != std::string::npos;
  // Underscores mean emphasis, except within a word.
  const auto in_word = [&](std::size_t i) {
    const auto is_letter = [&](std::size_t k) {
      return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) != 0);
    };
    return i > 0 && is_letter(i - 1) && is_letter(i + 1);
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '&') {
      out += c == '<' ? "&lt;" : "&amp;";
      continue;
    }
    if (std::string_view("|*`\\$~").find(c) != std::string_view::npos || (c == '[' && has_link) ||
        (c == '_' && !in_word(i)))
      out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

namespace {

// Encodes a path as the target of a link, where a space or a bracket ends it and % is decoded.
std::string target(const std::string& path) {
  std::string out;
  for (const char c : path)
    if (std::string_view(" ()<>[]%?#\\\"").find(c) == std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += fmt::format(" {} |", escape_markdown(cell));
  return out + "\n";
}

std::string table_of(const Table& table) {
  if (table.empty()) return "";
  std::string out =
      fmt::format("### {}\n\n{}|", escape_markdown(table.title), row_of(table.rows[0]));
  for (std::size_t i = 0; i < table.rows[0].size(); ++i) out += i == 0 ? " --- |" : " ---: |";
  out += "\n";
  for (std::size_t i = 1; i < table.rows.size(); ++i) out += row_of(table.rows[i]);
  return out + (table.note.empty() ? "\n" : fmt::format("\n{}\n\n", escape_markdown(table.note)));
}

std::string list_of(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += fmt::format("- {}\n", escape_markdown(item));
  return items.empty() ? "" : out + "\n";
}

std::string section(const Store& store, const std::string& name, const SharedRuns& all,
                    const std::string& picture) {
  const Results results(store, name);
  const ExperimentReport r = make_experiment_report(store, results, all);
  const bool whole = r.same_runs_as.empty();
  std::string out = fmt::format("## {}\n\n", escape_markdown(results.title()));
  if (!r.title.empty()) out += escape_markdown(r.title) + "\n\n";
  out += escape_markdown(r.setting) + ".\n\n";
  if (const std::string json = store.diagnosis(name); !json.empty()) {
    const StoredDiagnosis found = read_diagnosis(json);
    out += fmt::format("**Diagnosis: {}** (a pilot study: {})\n\n", escape_markdown(found.verdict),
                       escape_markdown(found.title)) +
           list_of(found.sentences);
  }
  if (!r.missing.empty()) out += "**Not all runs are there:**\n\n" + list_of(r.missing);
  out += list_of(r.findings);
  if (!picture.empty())
    out +=
        fmt::format("![{}: {}]({})\n\n", escape_markdown(results.title()),
                    caption_of(whole ? FigureKind::learning : FigureKind::ratios), target(picture));
  out += table_of(r.outcome) + table_of(r.needed) + table_of(r.saving) + table_of(r.comparison);
  out += table_of(r.of_problem);
  if (!r.best_of_problem.empty()) out += r.best_of_problem + "\n\n";
  if (!r.variants.empty()) {
    out += "### As written and as published\n\n";
    for (const std::string& sentence : r.variants) out += escape_markdown(sentence) + "\n\n";
  }
  if (!r.explanation.empty()) out += "### Why they end there\n\n" + list_of(r.explanation);
  for (const Table* table : {&r.robust, &r.ratios, &r.bias, &r.sureness, &r.problem, &r.cost})
    out += table_of(*table);
  out += fmt::format("Made by {} on {}.\n\n",
                     escape_markdown(fmt::format("{}", fmt::join(r.provenance.programs, ", "))),
                     escape_markdown(fmt::format("{}", fmt::join(r.provenance.machines, "; "))));
  return out;
}

}  // namespace

std::string make_markdown(const Store& store, const ReportSource& source,
                          const std::map<std::string, std::string>& pictures) {
  std::string out = fmt::format(
      "# Results\n\nWritten by `{}` from the results in the store; no number is typed by hand. "
      "Intervals are 95 % intervals.\n\n",
      source.command);
  out += list_of(missing_of_studies(store.experiments()));
  const SharedRuns shared(store, source.experiments);
  for (const std::string& name : source.experiments) {
    const auto picture = pictures.find(name);
    out += section(store, name, shared, picture == pictures.end() ? "" : picture->second);
  }
  return out;
}

}  // namespace hilo
