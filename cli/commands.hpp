#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

// One file per subcommand. Each adds its options to the app and returns what to do when it was
// called: read flags, call the library, say what was done. The result is the exit code.
namespace hilo::cli {

using Handler = std::function<int()>;

Handler add_run(CLI::App& app);
Handler add_reproduce(CLI::App& app);
Handler add_report(CLI::App& app);
Handler add_export(CLI::App& app);
Handler add_policy(CLI::App& app);
Handler add_solve(CLI::App& app);
Handler add_diagnose(CLI::App& app);
Handler add_plan(CLI::App& app);
Handler add_merge(CLI::App& app);
Handler add_import(CLI::App& app);
Handler add_list(CLI::App& app);
Handler add_completion(CLI::App& app);  // add last: it completes the others

inline constexpr int kVerdictFailed = 1;
inline constexpr int kInterrupted = 130;

// Puts an example below a command's help.
inline void add_example(CLI::App& app, const std::string& example) {
  app.footer("\nExample:\n  " + example + "\n");
}

// For every command that writes a file (core/output_file.hpp).
inline void add_force(CLI::App& app, bool& force) {
  app.add_flag("--force", force, "replace a file that hilo did not write");
}

}  // namespace hilo::cli
