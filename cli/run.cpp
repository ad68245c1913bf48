#include <fmt/format.h>

#include <thread>

#include "cli/commands.hpp"
#include "cli/run_spec.hpp"
#include "hilo/experiment/run.hpp"
#include "hilo/store/store.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::string spec, seeds;
  RunRequest request;
  Overrides overrides;
  bool dry_run = false, json = false;
};

// What would be run, how long it would take and how much memory; writes nothing.
int dry_run(const Spec& spec, const Options& options) {
  std::set<RunKey> finished;
  if (std::filesystem::exists(options.request.store))
    finished = Store::open_to_read(options.request.store).finished();
  const auto groups = plan(spec, finished);
  const CostEstimate cost = estimate_cost(groups);
  const unsigned threads = options.request.threads > 0
                               ? options.request.threads
                               : std::max(1U, std::thread::hardware_concurrency());
  const double seconds = cost.core_seconds / threads;
  const double megabytes = cost.bytes_per_thread * threads / 1e6;
  if (options.json) {
    nlohmann::json agents = nlohmann::json::array();
    for (const RunConfig& config : spec.configs)
      agents.push_back(
          {{"label", config.label}, {"hash", config.hash}, {"canonical", config.canonical}});
    const nlohmann::json out = {{"experiment", spec.name},
                                {"runs", spec.configs.size() * spec.seeds.count()},
                                {"to_do", count_runs(groups)},
                                {"seconds", seconds},
                                {"megabytes", megabytes},
                                {"threads", threads},
                                {"agents", agents}};
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  fmt::print("{}: {} agents, seeds {} to {}\n", spec.name, spec.configs.size(), spec.seeds.first,
             spec.seeds.last);
  for (const RunConfig& config : spec.configs) fmt::print("  {}  {}\n", config.hash, config.label);
  fmt::print("{} of {} runs to do; about {:.0f} s and {:.0f} MB of tables on {} threads\n",
             count_runs(groups), spec.configs.size() * spec.seeds.count(), seconds, megabytes,
             threads);
  return 0;
}

int run(const Options& options) {
  Spec spec = load_spec(options.spec, options.overrides);
  if (!options.seeds.empty()) spec.seeds = seeds_flag(options.seeds);
  if (options.dry_run) return dry_run(spec, options);
  const RunOutcome outcome = run_specs(spec.name, {&spec, 1}, options.request);
  if (options.json)
    fmt::print("{}\n", to_json(spec.name, options.request, outcome).dump(2));
  else
    fmt::print("{}", describe(spec.name, options.request, outcome));
  return exit_code(outcome);
}

}  // namespace

Handler add_run(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("SPEC", options->spec, "experiment description, a TOML file")->required();
  app.add_option("--store", options->request.store, "result store; runs already in it are skipped")
      ->capture_default_str();
  app.add_option("--seeds", options->seeds, "36 for seeds 0 to 35, or a range such as 10..19");
  app.add_option("--threads", options->request.threads, "workers, 0 for one per core")
      ->capture_default_str();
  app.add_option("--set", options->overrides,
                 "set a key of the spec, as in train.episodes=100 or agent.2.low_rollouts=5")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  app.add_flag("--dry-run", options->dry_run, "only say what would be run, with time and memory");
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo run my-spec.toml --store results.db --seeds 10 --set train.episodes=2000");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
