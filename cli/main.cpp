#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <new>
#include <thread>

#include "cli/commands.hpp"
#include "cli/ranks.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/simd.hpp"
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
  app.set_version_flag(
      "--version",
      fmt::format("hilo {} (features: sqlite, gnuplot, simd: {}{}; without {}cuda)",
                  hilo::version(), hilo::name_of(hilo::simd_path()),
                  hilo::cli::kHasMpi ? ", mpi" : "", hilo::cli::kHasMpi ? "" : "mpi, "));
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
    if (sub->parsed()) {
      // Only runs are shared among ranks; all else is the first one's.
      const bool is_shared = sub->get_name() == "run" || sub->get_name() == "reproduce";
      return is_shared || hilo::cli::is_first_rank() ? action() : 0;
    }
  return 0;
}

// The other ranks may have met the same error: the first one speaks, and ends them.
void report(const std::string& message, int code) {
  if (!hilo::cli::is_first_rank()) std::this_thread::sleep_for(std::chrono::seconds(2));
  fmt::print(stderr, "hilo: {}\n", message);
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
  } catch (const std::bad_alloc&) {
    message = "out of memory; hilo run --dry-run shows what a spec needs";
    code = static_cast<int>(hilo::Errc::io);
  } catch (const std::exception& e) {
    message = e.what();
    code = static_cast<int>(hilo::Errc::io);
  }
  // One line, whatever was quoted in it.
  std::replace(message.begin(), message.end(), '\n', ' ');
  report(message, code);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a full disk is an error to report, not a reason to die
  // Matrices of some megabytes come and go with every exact evaluation: their memory is kept for
  // the next one instead of being given back and cleared again. That of larger tables is given
  // back.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  try {
    const hilo::cli::Ranks ranks;
    return run_as_rank(argc, argv);
  } catch (const hilo::Error& e) {
    fmt::print(stderr, "hilo: {}\n", e.what());
    return static_cast<int>(e.code());
  }
}
