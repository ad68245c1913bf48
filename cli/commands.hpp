#pragma once

#include <functional>
#include <memory>

#include "cli/arguments.hpp"

// One file per subcommand. Each function adds the options of its command to the app and returns the
// handler of the command, which reads the flags, calls the library and prints what was done. The
// handler returns the exit code.
namespace hilo::cli {

using Handler = std::function<int()>;

Handler add_learn(App& app);
Handler add_evaluate(App& app);
Handler add_journal(App& app);
Handler add_check_simulator(App& app);
Handler add_run(App& app);
Handler add_reproduce(App& app);
Handler add_report(App& app);
Handler add_export(App& app);
Handler add_policy(App& app);
Handler add_solve(App& app);
Handler add_diagnose(App& app);
Handler add_plan(App& app);
Handler add_merge(App& app);
Handler add_import(App& app);
Handler add_list(App& app);
Handler add_completion(App& app);  // add last: it needs the names of the others

inline constexpr int kVerdictFailed = 1;
inline constexpr int kInterrupted = 130;

// Adds an example below the help text of a command.
inline void add_example(App& app, const std::string& example) {
  app.footer("\nExample:\n  " + example + "\n");
}

// Adds --force to a command that writes a file (core/output_file.hpp).
inline void add_force(App& app, bool& force) {
  app.add_flag("--force", force, "replace a file that hilo did not write");
}

}  // namespace hilo::cli
