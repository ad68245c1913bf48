#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/report_files.hpp"
#include "cli/report_text.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/output_file.hpp"
#include "hilo/report/diagnosis_report.hpp"
#include "hilo/report/experiment_report.hpp"
#include "hilo/report/findings.hpp"
#include "hilo/report/page.hpp"
#include "hilo/report/published.hpp"
#include "hilo/report/text_tables.hpp"
#include "hilo/studies/agent_guide.hpp"
#include "hilo/studies/control_guide.hpp"
#include "hilo/studies/estimator_guide.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::string store, experiment, metric, out, figures, guide, agents, control;
  bool json = false, force = false;
};

nlohmann::json to_json(const Results& results, const std::string& metric) {
  nlohmann::json agents = nlohmann::json::array();
  for (const std::string& agent : results.agents()) {
    nlohmann::json curve = nlohmann::json::array();
    for (const std::uint64_t episode : results.episodes(agent, metric)) {
      const Summary s = results.at(agent, metric, episode);
      curve.push_back({{"episode", episode},
                       {"seeds", s.n},
                       {"mean", s.mean},
                       {"sd", s.sd},
                       {"low", s.low},
                       {"high", s.high}});
    }
    agents.push_back({{"agent", agent}, {"curve", curve}});
  }
  return {{"experiment", results.experiment()},
          {"stand_in", results.is_stand_in()},
          {"metric", metric},
          {"agents", agents}};
}

void print_diagnosis(const Store& store, const std::string& experiment) {
  const std::string json = store.diagnosis(experiment);
  if (json.empty()) return;
  const StoredDiagnosis found = read_diagnosis(json);
  fmt::print("{}, the last diagnosis ({}):\n", experiment, found.title);
  for (const std::string& sentence : found.sentences) fmt::print("  {}\n", sentence);
  fmt::print("\n");
}

void print_text(const Store& store, const Results& results, const std::string& metric) {
  print_diagnosis(store, results.experiment());
  fmt::print("{}, mean ± standard error over seeds:\n{}\n{}\n", results.title(),
             learning_table(results, metric),
             difference_table(results, baseline_of(results), metric));
  if (const std::string note = data_note(results); !note.empty()) fmt::print("{}\n\n", note);
  const auto comparisons = compare_with_published(results);
  if (!comparisons.empty())
    fmt::print("Against the published values:\n{}\n", comparison_table(comparisons));
  for (const AgentStatus& status : store.agent_status(results.experiment()))
    if (status.finished < status.planned)
      fmt::print("not complete: {}, {} of {} runs\n", status.agent, status.finished,
                 status.planned);
  for (const FailedRun& failed : store.failed_runs(results.experiment()))
    fmt::print("failed: {}, seed {}: {}\n", failed.agent, failed.seed, failed.error);
}

using MakeGuide = std::function<std::string(const Store&, const std::string&, const std::string&)>;
using DrawGuide = std::function<void(const Store&, const std::filesystem::path&)>;

// Writes docs/estimators.md or docs/agents.md. Its figures go to `figures` beside it or to the
// folder of --figures.
int write_guide(const Options& options, const char* flag, const std::string& out, MakeGuide make,
                DrawGuide draw) {
  namespace fs = std::filesystem;
  const Store store = Store::open_to_read(options.store);
  const fs::path folder = fs::path(out).parent_path();
  const fs::path figures = options.figures.empty() ? folder / "figures" : fs::path(options.figures);
  const std::string relative =
      fs::absolute(figures)
          .lexically_relative(fs::absolute(folder.empty() ? "." : folder).lexically_normal())
          .string();
  const std::string text = make(
      store,
      fmt::format("hilo report {} {} {}", fs::path(options.store).filename().string(), flag, out),
      relative);
  AtomicFile file(out,
                  {.mark = report_mark(out), .inputs = {options.store}, .force = options.force});
  file.out() << text;
  file.commit();
  fmt::print("guide: {}\n", out);
  draw(store, figures);  // last, so that the page is written even if a figure fails
  return 0;
}

// Throws if a flag would be ignored.
void check_combination(const Options& options) {
  const int guides = (options.guide.empty() ? 0 : 1) + (options.agents.empty() ? 0 : 1) +
                     (options.control.empty() ? 0 : 1);
  if (guides > 1 || (guides == 1 && !(options.out.empty() && options.experiment.empty() &&
                                      options.metric.empty() && !options.json)))
    throw Error(Errc::usage,
                "--guide, --agents and --control each write one page: only --figures goes with "
                "them");
  if (!options.metric.empty() && !options.out.empty() && options.figures.empty() && !options.json)
    throw Error(Errc::usage,
                "--metric is for tables on the terminal, --json and --figures; a page has all "
                "metrics");
}

// The metric that tables and figures show. Throws if the experiment does not have it.
std::string metric_of(const Options& options, const Results& results) {
  std::string metric = options.metric.empty() ? results.reward_metric() : options.metric;
  if (!results.has_metric(metric) && results.has_metric(results.reward_metric()))
    throw Error(Errc::usage,
                fmt::format("{}: experiment '{}' has no metric '{}'{} (docs/usage.md lists them)",
                            options.store, results.experiment(), metric,
                            did_you_mean(metric, results.metrics())));
  return metric;
}

// Adds failures that were not there before.
void add_new(const std::vector<std::string>& more, std::vector<std::string>& failures) {
  for (const std::string& failure : more)
    if (std::ranges::find(failures, failure) == failures.end()) failures.push_back(failure);
}

int run(const Options& options) {
  require_report_name(options.out);
  check_combination(options);
  if (!options.guide.empty())
    return write_guide(options, "--guide", options.guide, make_estimator_guide,
                       draw_estimator_guide);
  if (!options.agents.empty())
    return write_guide(options, "--agents", options.agents, make_agent_guide, draw_agent_guide);
  if (!options.control.empty())
    return write_guide(
        options, "--control", options.control,
        [](const Store& store, const std::string& command, const std::string& figures) {
          return make_control_guide(store, command, figures);
        },
        [](const Store& store, const std::filesystem::path& folder) {
          draw_control_guide(store, folder);
        });
  const Store store = Store::open_to_read(options.store);
  say_what_is_unverified(store, options.store);
  std::vector<std::string> names = store.experiments();
  if (!options.experiment.empty()) {
    require_experiment(store, options.store, options.experiment);
    names = {options.experiment};
  }
  const auto diagnosed = store.diagnosed();
  if (names.empty() && diagnosed.empty() && !options.json)
    fmt::print("{}: the store is empty\n", options.store);
  if (options.experiment.empty() && options.out.empty() && !options.json)
    for (const std::string& name : diagnosed)
      if (std::ranges::find(names, name) == names.end()) print_diagnosis(store, name);

  nlohmann::json all = nlohmann::json::array();
  std::map<std::string, std::filesystem::path> pictures;
  std::vector<std::string> failures;
  std::optional<SharedRuns> shared;
  if (!options.figures.empty()) shared.emplace(store, store.experiments());
  for (const std::string& name : names) {
    // The page has all tables, so they are not printed as well.
    if (!options.out.empty() && options.figures.empty() && !options.json) break;
    const Results results(store, name);
    const std::string metric = metric_of(options, results);
    if (options.json)
      all.push_back(to_json(results, metric));
    else if (options.out.empty())
      print_text(store, results, metric);
    if (options.figures.empty()) continue;
    const Drawn drawn =
        options.metric.empty() || metric == "test_reward"
            ? draw_what_can_be(results, shared->whole_of(name).empty(), options.figures)
            : draw_metric(results, metric, options.figures);
    for (const auto& figure : drawn.files)
      if (!options.json) fmt::print("figure: {}\n", figure.string());
    if (!drawn.main.empty()) pictures[name] = drawn.main;
    add_new(drawn.failures, failures);
  }
  if (!options.out.empty()) {
    write_report(store, {.store = options.store,
                         .out = options.out,
                         .figures = options.figures,
                         .experiments = names,
                         .only = options.experiment,
                         .pictures = pictures,
                         .force = options.force});
    if (!options.json) fmt::print("report: {}\n", options.out);
  }
  if (options.json) fmt::print("{}\n", json_text(all));
  // Reported last, because everything else is complete without the figures.
  if (!failures.empty())
    throw Error(Errc::io,
                fmt::format("not all figures could be drawn: {}", fmt::join(failures, "; ")));
  return 0;
}

}  // namespace

Handler add_report(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("STORE", options->store, "result store").required();
  app.add_option("--out", options->out,
                 "write a report: FILE.html, a page that works offline, or FILE.md, Markdown");
  app.add_option("--experiment", options->experiment, "report only this experiment");
  app.add_option("--metric", options->metric,
                 "what to show in tables, as named in the export; default test_reward");
  app.add_option("--figures", options->figures,
                 "draw every figure as SVG, PDF and PNG into this folder");
  app.add_option("--guide", options->guide,
                 "write a comparison of all estimators from the study `estimators`: FILE.md");
  app.add_option("--agents", options->agents,
                 "write a comparison of all agents from the study `contest`: FILE.md");
  app.add_option("--control", options->control,
                 "write a comparison of agents for vectors from the study `control`: FILE.md");
  add_force(app, options->force);
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo report hilo.db --out report.html --figures figures");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
