#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/memory.hpp"
#include "hilo/core/output_file.hpp"
#include "hilo/env/catalogue.hpp"
#include "hilo/env/table_csv.hpp"
#include "hilo/exact/mean_reward.hpp"
#include "hilo/exact/solve.hpp"
#include "hilo/experiment/spec.hpp"

namespace hilo::cli {
namespace {

constexpr double kDefaultGamma = 0.99;

struct Options {
  std::string problem, csv;
  std::optional<std::uint64_t> seed;
  std::optional<double> gamma;
  bool json = false, force = false;
};

constexpr const char* kHeader = "state,action,value";

// A model, together with the object that owns it.
struct Solvable {
  std::shared_ptr<const void> owner;
  const Model* model;
  double gamma;
  std::vector<std::filesystem::path> inputs;  // files and folders that were read
};

// A folder of tables, a spec, or the name of a kind of problem with its defaults.
Solvable find_problem(const Options& options) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(options.problem, ignored)) {
    if (options.seed)
      throw Error(Errc::usage, fmt::format("--seed has no meaning for {}: tables are not random",
                                           options.problem));
    const bool is_pair = fs::exists(fs::path(options.problem) / "high");
    const auto folder = fs::path(options.problem) / (is_pair ? "high" : "");
    require_memory(bytes_of_mdp(folder));
    const auto mdp = load_mdp(folder);
    return {mdp, mdp.get(), options.gamma.value_or(kDefaultGamma), {options.problem}};
  }
  std::string kind = options.problem;
  std::map<std::string, Value> parameters;
  double gamma = kDefaultGamma;
  std::vector<fs::path> inputs = {options.problem};
  if (options.problem.ends_with(".toml")) {
    const Spec spec = load_spec(options.problem);
    kind = spec.configs[0].problem_kind->name;
    parameters = spec.configs[0].problem;
    gamma = spec.configs[0].train.number("gamma");
    for (const std::string& key : spec.configs[0].problem_kind->file_parameters)
      if (const auto* file = std::get_if<std::string>(&parameters.at(key)))
        inputs.emplace_back(*file);
  }
  require_memory(estimate_bytes(problem_kind(kind), parameters));
  auto problem =
      std::make_shared<Problem>(build_problem(kind, parameters, options.seed.value_or(0)));
  const Model* model = problem->pair.high().model();
  if (model == nullptr)
    throw Error(Errc::usage, fmt::format("{}: its distribution is not known, so that it cannot be "
                                         "solved",
                                         options.problem));
  return {std::move(problem), model, options.gamma.value_or(gamma), std::move(inputs)};
}

void write_csv(const Solution& solution, const Solvable& problem, const Options& options) {
  const Model& model = *problem.model;
  AtomicFile file(options.csv, {.mark = kHeader, .inputs = problem.inputs, .force = options.force});
  fmt::print(file.out(), "{}\n", kHeader);
  for (State s = 0; s < model.num_states(); ++s)
    fmt::print(file.out(), "{},{},{}\n", s, solution.policy[s], solution.values.v[s]);
  file.commit();
}

int run(const Options& options) {
  const Solvable problem = find_problem(options);
  const Model& model = *problem.model;
  const Solution solution = policy_iteration(model, problem.gamma);
  const double value = start_value(model, solution.values.v);
  const double reward = expected_mean_reward(
      model, deterministic_policy(solution.policy, model.num_actions()), 10'000);
  if (!options.csv.empty()) write_csv(solution, problem, options);
  if (options.json) {
    const nlohmann::json out = {
        {"problem", options.problem},   {"seed", options.seed.value_or(0)},
        {"states", model.num_states()}, {"actions", model.num_actions()},
        {"gamma", problem.gamma},       {"value", value},
        {"mean_reward", reward},        {"iterations", solution.iterations}};
    fmt::print("{}\n", json_text(out));
    return 0;
  }
  fmt::print("{}, seed {}: {} states, {} actions, gamma {}\n", options.problem,
             options.seed.value_or(0), model.num_states(), model.num_actions(), problem.gamma);
  fmt::print("optimal discounted value from the start    {:.6f}\n", value);
  fmt::print("mean reward per step of that policy        {:.6f}\n", reward);
  fmt::print("exact, by {} rounds of policy iteration\n", solution.iterations);
  if (!options.csv.empty()) fmt::print("policy written to {}\n", options.csv);
  return 0;
}

}  // namespace

Handler add_solve(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("PROBLEM", options->problem,
                 "a folder of tables, a spec.toml, or a kind of problem (hilo list problems)")
      .required();
  app.add_option("--seed", options->seed, "seed of a random problem; default 0")
      .check(whole_number(0, kMaxSeed));
  app.add_option("--gamma", options->gamma, "discount; default that of the spec, else 0.99")
      .check(number_in({.low = 0, .high = 1, .open_high = true}));
  app.add_option("--csv", options->csv, "write the policy: state,action,value");
  add_force(app, options->force);
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo solve random-mdp --seed 1 --csv optimal.csv");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
