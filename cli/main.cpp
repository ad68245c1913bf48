#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>

#include "cli/commands.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/version.hpp"

namespace {

using hilo::cli::Handler;

struct Command {
  const char* name;
  const char* description;
  Handler (*add)(CLI::App&);
};

constexpr Command kCommands[] = {
    {"run", "run an experiment and store its results", hilo::cli::add_run},
    {"reproduce", "run experiments of the paper and compare with it", hilo::cli::add_reproduce},
    {"report", "tables and figures of a store", hilo::cli::add_report},
    {"export", "all results of a store as CSV", hilo::cli::add_export},
    {"policy", "a trained policy: export it, ask it about a state", hilo::cli::add_policy},
    {"solve", "exact optimum and policy of a problem", hilo::cli::add_solve},
    {"diagnose", "does the cheap simulator pay? a pilot study and a verdict",
     hilo::cli::add_diagnose},
    {"plan", "returns needed, best ratio and costs, from the theory", hilo::cli::add_plan},
    {"merge", "put several stores into one", hilo::cli::add_merge},
    {"import", "bring tables of others into a form that hilo reads", hilo::cli::add_import},
    {"list", "what can be named in a spec, and the shipped experiments", hilo::cli::add_list},
    {"completion", "shell completion", hilo::cli::add_completion},
};

constexpr const char* kFooter = R"(
Exit codes: 0 ok, 1 a verdict failed, 2 usage, 3 bad spec, 4 bad data, 5 i/o,
6 a simulator failed, 130 interrupted (the same command continues).

Example:
  hilo reproduce figure-2a)";

int run(int argc, char** argv) {
  CLI::App app(
      "You have an expensive simulator and a cheap one. hilo learns a policy for the expensive one "
      "from as few expensive episodes as possible, and tells you honestly whether the cheap one "
      "helped.",
      "hilo");
  app.set_version_flag("--version", fmt::format("hilo {} (features: sqlite, gnuplot; without mpi, "
                                                "cuda)",
                                                hilo::version()));
  app.require_subcommand(1);
  app.footer(kFooter);
  std::vector<std::pair<CLI::App*, Handler>> actions;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.description);
    actions.emplace_back(sub, command.add(*sub));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help and --version
  } catch (const CLI::ParseError& e) {
    throw hilo::Error(hilo::Errc::usage, fmt::format("{} (see hilo --help)", e.what()));
  }
  for (const auto& [sub, action] : actions)
    if (sub->parsed()) return action();
  return 0;
}

}  // namespace

// The only place that maps errors to exit codes.
int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a full disk is an error to report, not a reason to die
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0) throw hilo::Error(hilo::Errc::io, "the output cannot be written");
    return code;
  } catch (const hilo::Error& e) {
    // One line, whatever was quoted in it.
    std::string message = e.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    fmt::print(stderr, "hilo: {}\n", message);
    return static_cast<int>(e.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "hilo: out of memory; hilo run --dry-run shows what a spec needs\n");
    return static_cast<int>(hilo::Errc::io);
  } catch (const std::exception& e) {
    fmt::print(stderr, "hilo: {}\n", e.what());
    return static_cast<int>(hilo::Errc::io);
  }
}
