#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/report_text.hpp"
#include "hilo/core/error.hpp"
#include "hilo/report/figure.hpp"
#include "hilo/report/published.hpp"
#include "hilo/report/tables.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::string store, experiment, metric = "test_reward", figures;
  bool json = false;
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
  return {{"experiment", results.experiment()}, {"metric", metric}, {"agents", agents}};
}

int run(const Options& options) {
  const Store store = Store::open_to_read(options.store);
  std::vector<std::string> names = store.experiments();
  if (!options.experiment.empty()) {
    require_experiment(store, options.store, options.experiment);
    names = {options.experiment};
  }
  if (names.empty() && !options.json) fmt::print("{}: the store is empty\n", options.store);

  nlohmann::json all = nlohmann::json::array();
  for (const std::string& name : names) {
    const Results results(store, name);
    if (!results.has_metric(options.metric) && results.has_metric("test_reward"))
      throw Error(Errc::usage, fmt::format("{}: experiment '{}' has no metric '{}' (docs/usage.md "
                                           "lists them)",
                                           options.store, name, options.metric));
    if (options.json) {
      all.push_back(to_json(results, options.metric));
    } else {
      fmt::print("{}, mean ± standard error over seeds:\n{}\n{}\n", name,
                 learning_table(results, options.metric),
                 difference_table(results, baseline_of(results), options.metric));
      const auto comparisons = compare_with_published(results);
      if (!comparisons.empty())
        fmt::print("Against the published means:\n{}\n", comparison_table(comparisons));
      for (const FailedRun& failed : store.failed_runs(name))
        fmt::print("failed: {}, seed {}: {}\n", failed.agent, failed.seed, failed.error);
    }
    if (!options.figures.empty())
      for (const auto& figure : draw_learning_curves(results, options.metric, options.figures))
        if (!options.json) fmt::print("figure: {}\n", figure.string());
  }
  if (options.json) fmt::print("{}\n", all.dump(2));
  return 0;
}

}  // namespace

Handler add_report(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("STORE", options->store, "result store")->required();
  app.add_option("--experiment", options->experiment, "only this one");
  app.add_option("--metric", options->metric, "what to show, as named in the export")
      ->capture_default_str();
  app.add_option("--figures", options->figures, "also draw SVG, PDF and PNG into this folder");
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo report hilo.db --figures figures");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
