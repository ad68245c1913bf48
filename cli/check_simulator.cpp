#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/stop_signal.hpp"
#include "hilo/core/error.hpp"
#include "hilo/env/program/conformance.hpp"

namespace hilo::cli {
namespace {

struct Options {
  std::vector<std::string> command;
  ProgramOptions program;
  SimulatorCheckOptions check;
  bool json = false;
};

const char* name_of(Verdict verdict) {
  return verdict == Verdict::good ? "ok" : verdict == Verdict::bad ? "BAD" : "-";
}

// Words that a shell would have to read again get quotes.
std::string command_of(const std::vector<std::string>& words) {
  if (words.size() == 1) return words[0];
  std::vector<std::string> quoted;
  for (const std::string& word : words)
    quoted.push_back(word.empty() || needs_shell(word) || word.find(' ') != std::string::npos
                         ? "'" + word + "'"
                         : word);
  return fmt::format("{}", fmt::join(quoted, " "));
}

void print_json(const SimulatorCheck& result) {
  nlohmann::json findings = nlohmann::json::array();
  for (const Finding& finding : result.findings)
    findings.push_back({{"check", finding.check},
                        {"verdict", finding.verdict == Verdict::good  ? "good"
                                    : finding.verdict == Verdict::bad ? "bad"
                                                                      : "skipped"},
                        {"found", finding.found},
                        {"means", finding.means},
                        {"mend", finding.mend}});
  fmt::print("{}\n", json_text(nlohmann::json{{"good", result.is_good()},
                                              {"name", result.facts.name},
                                              {"version", result.facts.version},
                                              {"observation", result.facts.observations.describe()},
                                              {"action", result.facts.actions.describe()},
                                              {"mean_length", result.mean_length},
                                              {"step_seconds", result.step_seconds},
                                              {"episode_seconds", result.episode_seconds},
                                              {"findings", findings}}));
}

void print_finding(const Finding& finding) {
  fmt::print("{:>4}  {}{}\n", name_of(finding.verdict), finding.check,
             finding.found.empty() ? "" : ": " + finding.found);
  if (finding.verdict == Verdict::bad)
    fmt::print("        what it means: {}\n        what to do: {}\n", finding.means, finding.mend);
  std::fflush(stdout);
}

void print_text(const SimulatorCheck& result, const std::string& command) {
  if (!result.facts.name.empty())
    fmt::print("{} {}: an observation is {}, an action is {}\n", result.facts.name,
               result.facts.version, result.facts.observations.describe(),
               result.facts.actions.describe());
  if (result.mean_length > 0) {
    const auto& step = result.step_seconds;
    const auto& episode = result.episode_seconds;
    fmt::print(
        "time    a step takes {:.3g} ms (5 to 95 %: {:.3g} to {:.3g}), an episode of random "
        "actions "
        "{:.3g} s ({:.3g} to {:.3g}) and {:.1f} steps\n",
        1e3 * step[1], 1e3 * step[0], 1e3 * step[2], episode[1], episode[0], episode[2],
        result.mean_length);
  }
  if (result.is_good())
    fmt::print(
        "\nIt behaves as a simulator should. In a spec: [problem] kind = \"program\", "
        "[problem.high] command = \"{}\"\n",
        command);
}

int run(const Options& options) {
  const StopOnSignal stop;
  ProgramOptions program = options.program;
  program.command = command_of(options.command);
  SimulatorCheckOptions check = options.check;
  if (!options.json) check.on_finding = print_finding;
  const SimulatorCheck result = check_program(program, check);
  if (options.json)
    print_json(result);
  else
    print_text(result, program.command);
  return result.is_good() ? 0 : 1;
}

}  // namespace

Handler add_check_simulator(App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("COMMAND", options->command,
                 "the program and its arguments; in quotes, or after -- if they have flags")
      .required();
  app.add_option("--episodes", options->check.episodes, "episodes of random actions")
      .capture_default_str()
      .check(whole_number(1, 1'000'000));
  app.add_option("--max-steps", options->check.max_steps, "steps within which an episode must end")
      .capture_default_str()
      .check(whole_number(1, 1'000'000'000));
  app.add_option("--seed", options->check.seed, "the first seed that the program gets")
      .capture_default_str()
      .check(whole_number(0, 1'000'000'000));
  app.add_option("--timeout-start", options->program.timeout_start,
                 "seconds until the program must have answered hello")
      .capture_default_str()
      .check(positive_number());
  app.add_option("--timeout-step", options->program.timeout_step,
                 "seconds until any other answer; 0: for ever")
      .capture_default_str()
      .check(number_in({.low = 0, .high = 1e9}));
  app.add_option("--directory", options->program.directory,
                 "its working folder; {worker} is the number of the instance");
  app.add_flag("--json", options->json, "print JSON");
  add_example(app, "hilo check-simulator ./my_sim");
  return [options] { return run(*options); };
}

}  // namespace hilo::cli
