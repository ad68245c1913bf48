#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/report_text.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/output_file.hpp"
#include "hilo/policy/network_file.hpp"
#include "hilo/policy/q_table.hpp"
#include "hilo/store/store.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::string store, experiment, agent, csv, out;
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> state;
  bool json = false, force = false;
};

constexpr const char* kHeader = "state,action,q,greedy";

// The default of a flag that was not given: the only name that there is. Throws unless there
// is exactly one.
std::string only_one(const std::vector<std::string>& all, const char* what, const char* flag) {
  if (all.size() == 1) return all[0];
  throw Error(Errc::usage,
              fmt::format("which {}? {} must be one of: {}", what, flag, fmt::join(all, ", ")));
}

void write_csv(const QTable& q, std::ostream& out) {
  fmt::print(out, "{}\n", kHeader);
  for (State s = 0; s < q.num_states(); ++s) {
    const auto greedy = q.greedy_actions(s);
    for (Action a = 0; a < q.num_actions(); ++a)
      fmt::print(out, "{},{},{},{}\n", s, a, q(s, a),
                 std::ranges::find(greedy, a) != greedy.end() ? 1 : 0);
  }
}

void write_csv(const QTable& q, const Options& options) {
  if (options.csv == "-") {
    write_csv(q, std::cout);
    if (!std::cout.flush()) throw Error(Errc::io, "the output cannot be written");
    return;
  }
  AtomicFile file(options.csv,
                  {.mark = kHeader, .inputs = {options.store}, .force = options.force});
  write_csv(q, file.out());
  file.commit();
}

int show_state(const QTable& q, std::uint64_t state, bool json) {
  if (state >= q.num_states())
    throw Error(Errc::usage,
                fmt::format("--state is {}, but must be in [0, {}]", state, q.num_states() - 1));
  const auto s = static_cast<State>(state);
  const auto greedy = q.greedy_actions(s);
  const auto values = q.values().subspan(s * q.num_actions(), q.num_actions());
  if (json) {
    const nlohmann::json out = {{"state", s},
                                {"greedy", std::vector<Action>(greedy.begin(), greedy.end())},
                                {"q", std::vector<double>(values.begin(), values.end())}};
    fmt::print("{}\n", json_text(out));
    return 0;
  }
  fmt::print("state {}: take action {}\n", s, fmt::join(greedy, " or "));
  for (Action a = 0; a < q.num_actions(); ++a) fmt::print("  action {}  Q {:.6g}\n", a, values[a]);
  return 0;
}

// Networks are JSON already, as `hilo evaluate` reads them.
int show_network(const PolicyArtifact& artifact, const Options& options) {
  if (options.state || !options.csv.empty())
    throw Error(Errc::usage,
                "the policy is a network, which has no table of states: --out FILE writes it");
  const std::string text(reinterpret_cast<const char*>(artifact.bytes.data()),
                         artifact.bytes.size());
  const auto network = parse_network(text, options.store);
  const std::string name =
      fmt::format("{}, {}, seed {}", options.experiment, options.agent, options.seed);
  if (options.out == "-") {
    fmt::print("{}", text);
    return 0;
  }
  if (!options.out.empty()) {
    AtomicFile file(
        options.out,
        {.mark = "{\"hilo_policy\"", .inputs = {options.store}, .force = options.force});
    file.out() << text;
    file.commit();
  }
  if (options.json) {
    const nlohmann::json out = {{"experiment", options.experiment},
                                {"agent", options.agent},
                                {"seed", options.seed},
                                {"weights", network->weights().size()},
                                {"out", options.out}};
    fmt::print("{}\n", json_text(out));
  } else if (options.out.empty()) {
    fmt::print("{}: a network with {} weights; observations {}, actions {}; --out FILE writes it\n",
               name, network->weights().size(), network->observation_space().describe(),
               network->action_space().describe());
  } else {
    fmt::print("policy of {} written to {}\n", name, options.out);
  }
  return 0;
}

int run(Options options) {
  if (options.csv == "-" && (options.state || options.json))
    throw Error(Errc::usage,
                "--csv - writes the policy to standard output, where nothing else belongs: leave "
                "--state and --json out, or give --csv a file");
  const Store store = Store::open_to_read(options.store);
  if (options.experiment.empty())
    options.experiment = only_one(store.experiments(), "experiment", "--experiment");
  require_experiment(store, options.store, options.experiment);
  if (options.agent.empty())
    options.agent = only_one(store.agents(options.experiment), "agent", "--agent");
  const StoredPolicy stored = store.policy(options.experiment, options.agent, options.seed);
  if (stored.artifact.kind == kNetwork) return show_network(stored.artifact, options);
  if (stored.q.empty())
    throw Error(Errc::usage, fmt::format("the policy is of the kind '{}', which is not a table",
                                         stored.artifact.kind));
  if (!options.out.empty())
    throw Error(Errc::usage,
                "--out is for policies that are networks; a table is written by --csv");
  QTable q(stored.num_states, stored.num_actions);
  q.assign(stored.q);
  if (!options.csv.empty()) write_csv(q, options);
  if (options.csv == "-") return 0;
  if (options.state) return show_state(q, *options.state, options.json);
  if (options.json) {
    const nlohmann::json out = {
        {"experiment", options.experiment}, {"agent", options.agent},     {"seed", options.seed},
        {"states", q.num_states()},         {"actions", q.num_actions()}, {"csv", options.csv}};
    fmt::print("{}\n", json_text(out));
  } else if (options.csv.empty()) {
    fmt::print(
        "{}, {}, seed {}: {} states, {} actions; --state S shows a state, --csv FILE exports all\n",
        options.experiment, options.agent, options.seed, q.num_states(), q.num_actions());
  } else {
    fmt::print("policy of {}, {}, seed {} written to {}\n", options.experiment, options.agent,
               options.seed, options.csv);
  }
  return 0;
}

}  // namespace

Handler add_policy(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("STORE", options->store, "result store").required();
  app.add_option("--experiment", options->experiment, "needed if the store has several");
  app.add_option("--agent", options->agent, "label of the agent, needed if there are several");
  app.add_option("--seed", options->seed, "which of the trained policies")
      .capture_default_str()
      .check(whole_number(0, kMaxSeed));
  app.add_option("--state", options->state, "show greedy actions and Q values of this state")
      .check(whole_number(0, kMaxTableSize - 1));
  app.add_option("--csv", options->csv,
                 "write the whole policy as state,action,q,greedy; - for standard output");
  app.add_option("--out", options->out,
                 "write a policy that is a network as JSON; - for standard output");
  add_force(app, options->force);
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo policy hilo.db --agent 'MFMCRL m=10 as-written' --seed 3 --state 7");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
