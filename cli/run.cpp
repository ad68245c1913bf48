#include <fmt/format.h>

#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/ranks.hpp"
#include "cli/run_spec.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::string spec, seeds;
  RunRequest request;
  Overrides overrides;
  bool dry_run = false, json = false;
};

int run(const Options& options) {
  Overrides overrides = options.overrides;
  for (std::string& seeds : seeds_override(options.seeds)) overrides.push_back(std::move(seeds));
  const Spec spec = load_spec(options.spec, overrides);
  if (options.dry_run) {
    if (!is_first_rank()) return 0;
    dry_run(spec.name, {&spec, 1}, options.request, options.json);
    return 0;
  }
  const RanOnRanks ran = run_on_ranks(spec.name, {&spec, 1}, options.request);
  if (ran.by_others) return 0;
  if (options.json)
    fmt::print("{}\n", json_text(to_json(spec.name, options.request, ran)));
  else
    fmt::print("{}", describe(spec.name, options.request, ran));
  return exit_code(ran.outcome);
}

}  // namespace

Handler add_run(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("SPEC", options->spec, "experiment description, a TOML file").required();
  app.add_option("--store", options->request.store, "result store; runs already in it are skipped")
      .capture_default_str();
  app.add_option("--seeds", options->seeds, "36 for seeds 0 to 35, or a range such as 10..19");
  app.add_option("--threads", options->request.threads, "workers, 0 for one per core")
      .capture_default_str()
      .check(whole_number(0, kMaxThreads));
  app.add_option("--set", options->overrides,
                 "set a key of the spec, as in train.episodes=100 or agent.2.low_rollouts=5")
      .each_time();
  app.add_flag("--ignore-memory", options->request.ignore_memory,
               "run also what may need more memory than there is");
  app.add_option("--checkpoint-every", options->request.checkpoint_every,
                 "seconds between two checkpoints of an unfinished run, kept in STORE.running")
      .capture_default_str()
      .check(number_in({.low = 0, .high = 1e6}));
  app.add_flag("--dry-run", options->dry_run, "only say what would be run, with time and memory");
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo run my-spec.toml --store results.db --seeds 10 --set train.episodes=2000");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
