#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "cli/report_text.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stop_signal.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/memory.hpp"
#include "hilo/diagnose/diagnosis.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/experiment/spec.hpp"
#include "hilo/report/diagnosis_report.hpp"
#include "hilo/store/store.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::string spec, store, policy_store, policy_experiment, policy_agent;
  std::uint32_t pilot = 200;
  std::uint64_t seed = 0;
  DiagnosisPlan plan;
  Overrides overrides;
  bool json = false;
};

// How a pilot study represents the agent of a configuration.
PilotView pilot_view(const RunConfig& config, std::size_t num_actions) {
  if (!config.agent->pilot) return {};
  return config.agent->pilot(config.agent_parameters, config.train.number("epsilon"), num_actions);
}

// The configuration whose problem and m are diagnosed: the first whose agent is exactly the one
// that the study judges. If there is none, the first that uses a low fidelity and that a pilot
// study can represent.
const RunConfig& find_config(const Spec& spec, const std::string& file) {
  const RunConfig* found = nullptr;
  std::string obstacle = "no agent uses a low fidelity, so there is nothing to diagnose";
  for (const RunConfig& config : spec.configs) {
    if (!config.agent->uses_low_fidelity()) continue;
    const PilotView view = pilot_view(config, 1);
    if (!view.obstacle.empty()) {
      obstacle = view.obstacle;
      continue;
    }
    if (view.is_what_is_judged) return config;
    if (found == nullptr) found = &config;
  }
  if (found != nullptr) return *found;
  throw Error(Errc::spec, fmt::format("{}: {}", file, obstacle));
}

// The Q table of a trained policy, which the pilot follows epsilon-greedily. All zero, which makes
// the pilot uniform, if no store is given.
QTable policy_of(const Options& options, const Fidelities& pair) {
  QTable q(pair.high().num_states(), pair.num_actions());
  if (options.policy_store.empty()) return q;
  const Store store = Store::open_to_read(options.policy_store);
  const auto experiments = store.experiments();
  if (experiments.empty())
    throw Error(Errc::usage, fmt::format("{}: the store is empty", options.policy_store));
  const std::string experiment =
      options.policy_experiment.empty() ? experiments[0] : options.policy_experiment;
  require_experiment(store, options.policy_store, experiment);
  const auto agents = store.agents(experiment);
  const std::string agent =
      options.policy_agent.empty() && !agents.empty() ? agents[0] : options.policy_agent;
  const StoredPolicy policy = store.policy(experiment, agent, options.seed);
  if (policy.num_states != q.num_states() || policy.num_actions != q.num_actions())
    throw Error(Errc::usage,
                fmt::format("{}: its policy has {} states and {} actions, but the problem has {} "
                            "and {}",
                            options.policy_store, policy.num_states, policy.num_actions,
                            q.num_states(), q.num_actions()));
  q.assign(policy.q);
  return q;
}

void show_progress(std::uint32_t done, std::uint32_t all) {
  if (::isatty(STDERR_FILENO) == 0) return;
  say(fmt::format("\rpilot: {} of {} episodes", done, all));
  if (done == all) say("\r\033[K");
}

// A spec, or one made for a folder of tables with defaults for everything else.
Spec find_spec(const Options& options) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_directory(options.spec, ignored)) return load_spec(options.spec, options.overrides);
  std::string folder;
  for (const char c : fs::absolute(options.spec).string()) {
    if (c == '"' || c == '\\') folder += '\\';
    folder += c;
  }
  return parse_spec(
      fmt::format(
          "spec_version = 1\nname = \"tables\"\n[problem]\nkind = \"table\"\nfolder = "
          "\"{}\"\n[train]\nepisodes = 1000\n[[agent]]\nkind = \"mfmcrl\"\nvariant = \"plus\"\n",
          folder),
      options.spec, options.overrides);
}

int run(const Options& options) {
  if ((options.plan.cost_high > 0) != (options.plan.cost_low > 0))
    throw Error(Errc::usage, "--cost-high and --cost-low belong together");
  if (options.policy_store.empty() &&
      !(options.policy_experiment.empty() && options.policy_agent.empty()))
    throw Error(Errc::usage, "--experiment and --agent need --policy STORE, which is not given");
  const Spec spec = find_spec(options);
  const RunConfig& config = find_config(spec, options.spec);
  require_memory(estimate_bytes(*config.problem_kind, config.problem));
  const Problem problem = build_problem(config.problem_kind->name, config.problem, options.seed);
  const QTable q = policy_of(options, problem.pair);
  const PilotView view = pilot_view(config, problem.pair.num_actions());
  const StopOnSignal stop;
  std::uint32_t done = 0;
  const Pilot pilot =
      run_pilot(problem.pair, q,
                {.episodes = options.pilot,
                 .low_rollouts = view.low_rollouts,
                 .gamma = config.train.number("gamma"),
                 .epsilon = view.uniform_chance.value_or(config.train.number("epsilon")),
                 .max_steps = static_cast<std::uint32_t>(config.train.integer("max_steps")),
                 .truncation = truncation_from_name(config.train.text("truncation")),
                 .seed = options.seed},
                [&] {
                  if (++done % 20 == 0 || done == options.pilot) show_progress(done, options.pilot);
                  return !stop_requested;
                });
  if (stop_requested) return kInterrupted;
  DiagnosisPlan plan = options.plan;
  plan.fading = view.fading;
  const std::int64_t episodes = config.train.integer("episodes");
  plan.train_episodes =
      episodes > 0 ? static_cast<std::uint64_t>(episodes)
                   : static_cast<std::uint64_t>(
                         static_cast<double>(config.train.integer("steps")) /
                         std::max(1.0, static_cast<double>(pilot.high_steps) / pilot.episodes));
  const Diagnosis diagnosis = diagnose(problem.pair, pilot, plan);
  const DiagnosisSource source = {
      .experiment = spec.name,
      .problem = config.problem_kind->name,
      .seed = options.seed,
      .policy = options.policy_store.empty() ? "uniform" : "from " + options.policy_store,
      .agent = config.label};
  const std::string json = to_json_text(diagnosis, source);
  if (!options.store.empty()) Store::open(options.store).keep_diagnosis(spec.name, json);
  if (options.json) {
    fmt::print("{}\n", json);
    return 0;
  }
  for (const std::string& note : spec.notes) fmt::print("note: {}\n", note);
  for (const std::string& sentence : explain(diagnosis)) fmt::print("{}\n", sentence);
  fmt::print("Looked at: {}, {}, m = {}, seed {}, policy {}.\n", config.problem_kind->name,
             config.label, pilot.low_rollouts, options.seed, source.policy);
  if (options.policy_store.empty())
    fmt::print("A training with train.pilot_episodes = {} starts with exactly these episodes.\n",
               pilot.episodes);
  if (!options.store.empty())
    fmt::print("kept in {}: hilo report {} --out report.html shows it\n", options.store,
               options.store);
  return 0;
}

}  // namespace

Handler add_diagnose(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("SPEC", options->spec,
                 "experiment description, a TOML file, or a folder of tables")
      .required();
  app.add_option("--pilot", options->pilot, "high-fidelity episodes to spend")
      .capture_default_str()
      .check(whole_number(0, 0xffffffffU));
  app.add_option("--seed", options->seed, "seed of the problem and the episodes")
      .capture_default_str()
      .check(whole_number(0, kMaxSeed));
  app.add_option("--returns", options->plan.returns,
                 "high-fidelity returns of each state-action pair to plan for; default: what the "
                 "spec's training would give")
      .check(number_in({.low = 0, .high = 1e9, .open_low = true}));
  app.add_option("--cost-high", options->plan.cost_high,
                 "cost of a high-fidelity step, in any unit; default: the time measured")
      .check(positive_number());
  app.add_option("--cost-low", options->plan.cost_low,
                 "cost of a low-fidelity step, in the same unit")
      .check(positive_number());
  app.add_option("--policy", options->policy_store,
                 "store with a trained policy to follow; default: uniform");
  app.add_option("--experiment", options->policy_experiment,
                 "experiment of that store; default: the first");
  app.add_option("--agent", options->policy_agent, "agent of that experiment; default: the first");
  app.add_option("--store", options->store, "store to keep the diagnosis in, for hilo report");
  app.add_option("--set", options->overrides, "set a key of the spec, as in problem.snr_db=-10")
      .each_time();
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo diagnose my-spec.toml --pilot 500 --cost-high 3600 --cost-low 1");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
