#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/ranks.hpp"
#include "cli/report_files.hpp"
#include "cli/run_spec.hpp"
#include "cli/standard_streams.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/output_file.hpp"
#include "hilo/report/findings.hpp"
#include "hilo/report/page.hpp"
#include "hilo/report/published.hpp"
#include "hilo/report/shipped.hpp"
#include "hilo/report/text_tables.hpp"
#include "hilo/report/variants.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::vector<std::string> names;
  std::string seeds, figures, table;
  RunRequest request;
  bool list = false, dry_run = false, json = false, force = false;
};

const ShippedSpec& shipped_spec(std::string_view name) {
  return *std::ranges::find(shipped_specs(), name, &ShippedSpec::name);
}

// The experiments of the named experiments and studies, each once.
std::vector<std::string> expand(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const ShippedStudy& study : shipped_studies()) known.emplace_back(study.name);
  for (const ShippedSpec& spec : shipped_specs()) known.emplace_back(spec.name);
  std::vector<std::string> out;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(out, name) == out.end()) out.emplace_back(name);
  };
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end())
      throw Error(Errc::usage, fmt::format("no experiment '{}' is shipped{}; there are {}", name,
                                           did_you_mean(name, known), fmt::join(known, ", ")));
    const auto study = std::ranges::find(shipped_studies(), name, &ShippedStudy::name);
    if (study == shipped_studies().end())
      add(name);
    else
      for (const std::string_view spec : study->specs) add(spec);
  }
  return out;
}

int list(bool json) {
  nlohmann::json all = nlohmann::json::array();
  for (const ShippedStudy& study : shipped_studies()) {
    all.push_back(study.name);
    if (!json) fmt::print("{:<12} {}\n", study.name, study.description);
  }
  for (const ShippedSpec& spec : shipped_specs()) {
    all.push_back(spec.name);
    if (!json) fmt::print("{:<12} {}\n", spec.name, description_of(spec));
  }
  if (json) fmt::print("{}\n", json_text(all));
  return 0;
}

nlohmann::json to_json(const Comparison& c) {
  return {{"agent", c.published.agent},
          {"metric", c.published.metric},
          {"episode", c.published.episode},
          {"statistic", c.published.statistic == Statistic::median ? "median" : "mean"},
          {"seeds", c.seeds},
          {"value", c.value},
          {"standard_error", c.standard_error},
          {"published_value", c.published.value},
          {"published_standard_error", c.published.standard_error()},
          {"published_seeds", c.published.seeds},
          {"difference_in_standard_errors", c.difference},
          {"agrees", c.verdict == Verdict::agrees}};
}

// A figure that cannot be drawn, for example without gnuplot, is a warning and not a failure.
std::vector<std::filesystem::path> try_to_draw(const Store& store, const Results& results,
                                               const std::string& folder) {
  try {
    return draw_all(store, results, folder);
  } catch (const Error& e) {
    say(fmt::format("hilo: no figure: {}\n", e.what()));
    return {};
  }
}

bool uses_table(const std::string& name) {
  return shipped_spec(name).toml.find("kind = \"nas-bench-201\"") != std::string_view::npos;
}

// The spec of an experiment. If it uses a table, the user's own table replaces it where one is
// given.
Spec shipped(const std::string& name, const Options& options) {
  const std::string_view toml = shipped_spec(name).toml;
  const std::string where = fmt::format("{}.toml", name);
  Overrides overrides = seeds_override(options.seeds);
  if (options.table.empty() || !uses_table(name)) return parse_spec(toml, where, overrides);
  overrides.push_back(fmt::format("problem.table={}", nlohmann::json(options.table).dump()));
  return parse_spec(toml, where, overrides);
}

enum class Outcome { reproduced, not_reproduced, too_few_seeds, nothing_published };

Outcome outcome_of(const std::vector<Comparison>& comparisons) {
  if (comparisons.empty()) return Outcome::nothing_published;
  const auto any = [&](Verdict verdict) {
    return std::ranges::find(comparisons, verdict, &Comparison::verdict) != comparisons.end();
  };
  if (any(Verdict::differs)) return Outcome::not_reproduced;
  return any(Verdict::too_few_seeds) ? Outcome::too_few_seeds : Outcome::reproduced;
}

std::string verdict_of(const Results& results, const std::vector<Comparison>& comparisons) {
  if (comparisons.empty() && results.is_stand_in())
    return "none: stand-in data is not compared with the paper";
  if (comparisons.empty() && !results.experiment().starts_with("figure-"))
    return "none: hilo's own experiment, the paper has none like it";
  if (comparisons.empty())
    return "none: no published values of this figure are at hand; the results above stand by "
           "themselves";
  const char* verdict = "";
  switch (outcome_of(comparisons)) {
    case Outcome::reproduced:
      verdict = "REPRODUCED";
      break;
    case Outcome::not_reproduced:
      verdict = "NOT REPRODUCED";
      break;
    default:
      verdict = "NO VERDICT, too few seeds";
  }
  const auto agreeing = std::ranges::count(comparisons, Verdict::agrees, &Comparison::verdict);
  return fmt::format(
      "{} of {} published values agree within {} standard errors of the difference: {}", agreeing,
      comparisons.size(), kAgreement, verdict);
}

void print_text(const Results& results, const std::vector<Comparison>& comparisons,
                const std::vector<std::filesystem::path>& figures) {
  fmt::print("\n{}, mean ± standard error over seeds:\n{}\n", results.title(),
             learning_table(results, "test_reward"));
  fmt::print("{}\n", difference_table(results, baseline_of(results), "test_reward"));
  if (const std::string note = data_note(results); !note.empty()) fmt::print("{}\n\n", note);
  if (!comparisons.empty())
    fmt::print("Against the published values ({} seeds):\n{}\n", comparisons[0].published.seeds,
               comparison_table(comparisons));
  for (const std::string& sentence : explain_variants(results, analyse(results)))
    fmt::print("{}\n", sentence);
  fmt::print("\nverdict: {}\n", verdict_of(results, comparisons));
  for (const auto& figure : figures)
    if (figure.extension() == ".png") fmt::print("figure:  {}\n", figure.string());
}

// Prints tables and verdict of one experiment in the store and draws its figures.
Outcome conclude(const Store& store, const std::string& name, const std::string& folder, bool json,
                 nlohmann::json& all) {
  const Results results(store, name);
  const auto comparisons = compare_with_published(results);
  const auto figures = try_to_draw(store, results, folder);
  if (json) {
    nlohmann::json entry = {{"experiment", name}, {"stand_in", results.is_stand_in()}};
    entry["comparisons"] = nlohmann::json::array();
    entry["figures"] = nlohmann::json::array();
    for (const Comparison& c : comparisons) entry["comparisons"].push_back(to_json(c));
    for (const auto& figure : figures) entry["figures"].push_back(figure.string());
    all["experiments"].push_back(std::move(entry));
  } else {
    print_text(results, comparisons, figures);
  }
  return outcome_of(comparisons);
}

int run(const Options& options) {
  if (options.list) return list(options.json);
  if (options.names.empty())
    throw Error(Errc::usage, "hilo reproduce needs the name of an experiment (see --list)");
  const std::vector<std::string> names = expand(options.names);
  if (!options.table.empty() && std::ranges::none_of(names, uses_table))
    throw Error(Errc::usage, fmt::format("--table: {} uses no table", fmt::join(names, ", ")));
  std::vector<Spec> specs;
  for (const std::string& name : names) specs.push_back(shipped(name, options));
  const std::string title = fmt::format("{}", fmt::join(options.names, " "));
  if (options.dry_run) {
    if (!is_first_rank()) return 0;
    dry_run(title, specs, options.request, options.json);
    return 0;
  }
  // A page that cannot be written must be found before hours of work.
  const std::filesystem::path page = options.request.store.parent_path() / "report.html";
  require_writable(
      page, {.mark = report_mark(page), .inputs = {options.request.store}, .force = options.force});
  const RanOnRanks ran = run_on_ranks(title, specs, options.request);
  if (ran.by_others) return 0;
  const RunOutcome& outcome = ran.outcome;
  nlohmann::json all = to_json(title, options.request, ran);
  if (!options.json) fmt::print("{}", describe(title, options.request, ran));
  int code = exit_code(outcome);
  if (code == 0) {
    const Store store = Store::open_to_read(options.request.store);
    const std::string folder = options.figures.empty()
                                   ? options.request.store.parent_path() / "figures"
                                   : std::filesystem::path(options.figures);
    for (const std::string& name : names) {
      const Outcome one = conclude(store, name, folder, options.json, all);
      if (one == Outcome::not_reproduced || one == Outcome::too_few_seeds) code = kVerdictFailed;
    }
    write_report(store, {.store = options.request.store.string(),
                         .out = page.string(),
                         .figures = {},
                         .experiments = store.experiments(),
                         .only = {},
                         .force = options.force});
    all["page"] = page.string();
    if (!options.json)
      fmt::print("\npage:    {}\nstore:   {}\n", page.string(), options.request.store.string());
  }
  if (options.json) fmt::print("{}\n", json_text(all));
  return code;
}

}  // namespace

Handler add_reproduce(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("NAME", options->names, "experiments or studies, as listed by --list");
  app.add_flag("--list", options->list, "list what is shipped");
  app.add_option("--seeds", options->seeds, "36 for seeds 0 to 35, or a range such as 10..19");
  app.add_option("--store", options->request.store, "result store; runs already in it are skipped")
      .capture_default_str();
  app.add_option("--threads", options->request.threads, "workers, 0 for one per core")
      .capture_default_str()
      .check(whole_number(0, kMaxThreads));
  app.add_option("--table", options->table,
                 "real NAS-Bench-201 accuracies, CSV or CSV.gz (docs/nas.md); default: a stand-in");
  app.add_option(
      "--figures", options->figures,
      "folder for the figures; default: figures/ beside the store, where report.html is written");
  app.add_flag("--ignore-memory", options->request.ignore_memory,
               "run also what may need more memory than there is");
  add_force(app, options->force);
  app.add_flag("--dry-run", options->dry_run, "only say what would be run, with time and memory");
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo reproduce synthetic --store paper.db");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
