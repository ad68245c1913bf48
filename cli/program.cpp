#include "hilo/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <new>
#include <thread>

#include "cli/commands.hpp"
#include "cli/ranks.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stop_signal.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/parameters.hpp"
#include "hilo/core/simd.hpp"
#include "hilo/core/version.hpp"
#include "hilo/studies/our_studies.hpp"

namespace {

using hilo::cli::Handler;

struct Command {
  const char* name;
  const char* description;
  Handler (*add)(hilo::cli::App&);
  bool on_all_ranks = false;  // otherwise only the first rank runs it
};

constexpr Command kCommands[] = {
    {"learn", "one budget, one policy for your expensive simulator, and what it is worth",
     hilo::cli::add_learn, /*on_all_ranks=*/true},
    {"evaluate", "what policies are worth on the expensive simulator, with the cheap ones' help",
     hilo::cli::add_evaluate},
    {"run", "run an experiment and store its results", hilo::cli::add_run,
     /*on_all_ranks=*/true},
    {"reproduce", "run experiments of the paper and compare with it", hilo::cli::add_reproduce,
     /*on_all_ranks=*/true},
    {"report", "tables and figures of a store", hilo::cli::add_report},
    {"export", "all results of a store as CSV", hilo::cli::add_export},
    {"policy", "a trained policy: export it, ask it about a state", hilo::cli::add_policy},
    {"solve", "exact optimum and policy of a problem", hilo::cli::add_solve},
    {"diagnose", "does the cheap simulator pay? a pilot study and a verdict",
     hilo::cli::add_diagnose},
    {"plan", "returns needed, best ratio and costs, from the theory", hilo::cli::add_plan},
    {"merge", "put several stores into one", hilo::cli::add_merge},
    {"journal", "what hilo learn has paid for: list, export, merge, replay",
     hilo::cli::add_journal},
    {"check-simulator", "does a program behave as a simulator should?",
     hilo::cli::add_check_simulator},
    {"import", "convert benchmark tables into a form that hilo reads", hilo::cli::add_import},
    {"list", "what can be named in a spec, and the shipped experiments", hilo::cli::add_list},
    {"completion", "shell completion", hilo::cli::add_completion},
};

constexpr const char* kFooter = R"(
Exit codes: 0 ok, 1 a verdict failed, 2 usage, 3 bad spec, 4 bad data, 5 i/o,
6 a simulator failed, 130 interrupted (the same command continues).

Example:
  hilo reproduce figure-2a)";

constexpr std::size_t kMostSaid = 500;  // characters of a message that quotes the command line

// "; did you mean 'run'?" for a mistyped command, or for a flag of the command; else "".
std::string what_was_meant(const hilo::cli::App& app, int argc, char** argv) {
  if (argc < 2) return "";
  std::vector<std::string> commands;
  for (const auto& command : app.subcommands()) commands.push_back(command->name());
  const std::string first = argv[1];
  const auto known = std::ranges::find(commands, first);
  if (known == commands.end())
    return first.starts_with("-")
               ? ""
               : fmt::format("; '{}' is no command{} (commands: {})", first.substr(0, 40),
                             hilo::did_you_mean(first, commands), fmt::join(commands, ", "));
  const auto& command = app.subcommands()[static_cast<std::size_t>(known - commands.begin())];
  const std::vector<std::string> flags = command->option_names();
  for (int i = 2; i < argc; ++i) {
    const std::string given = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (given.starts_with("--") && given != "--" && std::ranges::find(flags, given) == flags.end())
      return hilo::did_you_mean(given, flags);
  }
  return "";
}

// An empty argument comes from a script variable that was not set. It is never intended.
void refuse_empty(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (const std::string given = argv[i];
        given.empty() || (given.starts_with("--") && given.ends_with("=")))
      throw hilo::Error(
          hilo::Errc::usage,
          fmt::format("argument {} ('{}') is empty, or has nothing after its =", i, given));
}

int run(int argc, char** argv) {
  refuse_empty(argc, argv);
  hilo::cli::App app(
      "You have an expensive simulator and a cheap one. hilo learns a policy for the expensive one "
      "from as few expensive episodes as possible, and tells you honestly whether the cheap one "
      "helped.",
      "hilo");
  app.set_version(fmt::format("hilo {} (features: sqlite, gnuplot, simd: {}{}; without {}cuda)",
                              hilo::version(), hilo::name_of(hilo::simd_path()),
                              hilo::cli::kHasMpi ? ", mpi" : "",
                              hilo::cli::kHasMpi ? "" : "mpi, "));
  app.require_subcommand();
  app.footer(kFooter);
  struct Action {
    const hilo::cli::App* command;
    bool on_all_ranks;
    Handler run;
  };
  std::vector<Action> actions;
  for (const Command& command : kCommands) {
    hilo::cli::App& sub = app.add_subcommand(command.name, command.description);
    actions.push_back({&sub, command.on_all_ranks, command.add(sub)});
  }
  try {
    app.parse(argc, argv);
  } catch (const hilo::cli::ShownInstead& shown) {
    fmt::print("{}", shown.text);
    return 0;
  } catch (const hilo::cli::BadCommandLine& e) {
    const std::string said = e.what();
    throw hilo::Error(hilo::Errc::usage,
                      fmt::format("{}{} (see hilo --help)", said.substr(0, kMostSaid),
                                  what_was_meant(app, argc, argv)));
  }
  for (const Action& action : actions)
    if (action.command->was_called())
      return action.on_all_ranks || hilo::cli::is_first_rank() ? action.run() : 0;
  return 0;
}

// All ranks may have the same error. The others wait, so that the first rank reports it and ends
// them.
void report(const std::string& message, int code) {
  if (!hilo::cli::is_first_rank()) std::this_thread::sleep_for(std::chrono::seconds(2));
  hilo::cli::say(fmt::format("hilo: {}\n", message));
  hilo::cli::end_all_ranks(code);
}

// The only place that maps errors to exit codes.
int run_as_rank(int argc, char** argv) {
  int code = 0;
  std::string message;
  try {
    code = run(argc, argv);
    if (std::fflush(stdout) != 0) throw hilo::Error(hilo::Errc::io, "the output cannot be written");
    return code;
  } catch (const hilo::Error& e) {
    message = e.what();
    code = static_cast<int>(e.code());
  } catch (const hilo::Interrupted&) {
    return hilo::cli::kInterrupted;
  } catch (const std::bad_alloc&) {
    message = "out of memory; hilo run --dry-run shows what a spec needs";
    code = static_cast<int>(hilo::Errc::io);
  } catch (const std::exception& e) {
    message = e.what();
    code = static_cast<int>(hilo::Errc::io);
  }
  // The message stays on one line, even if it quotes text with line breaks.
  std::replace(message.begin(), message.end(), '\n', ' ');
  report(message, code);
  return code;
}

}  // namespace

int hilo::run_program(int argc, char** argv, const std::function<void()>& add_kinds) {
  add_our_studies();
  hilo::cli::open_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error to report
  hilo::cli::end_on_signals();
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file over the size limit
  // Every exact evaluation allocates matrices of some megabytes. The process keeps their memory for
  // the next evaluation, because the system would have to clear it again. Memory of larger tables
  // is given back.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  try {
    const hilo::cli::Ranks ranks;
    if (add_kinds) add_kinds();
    return run_as_rank(argc, argv);
  } catch (const hilo::Error& e) {
    hilo::cli::say(fmt::format("hilo: {}\n", e.what()));
    return static_cast<int>(e.code());
  }
}
