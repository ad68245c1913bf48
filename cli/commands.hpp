#pragma once

#include <functional>
#include <memory>

#include "cli/arguments.hpp"

// One file per subcommand. Each adds its options to the app and returns what to do when it was
// called: read flags, call the library, say what was done. The result is the exit code.
namespace hilo::cli {

using Handler = std::function<int()>;

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
Handler add_completion(App& app);  // add last: it completes the others

inline constexpr int kVerdictFailed = 1;
inline constexpr int kInterrupted = 130;

// Puts an example below a command's help.
inline void add_example(App& app, const std::string& example) {
  app.footer("\nExample:\n  " + example + "\n");
}

// For every command that writes a file (core/output_file.hpp).
inline void add_force(App& app, bool& force) {
  app.add_flag("--force", force, "replace a file that hilo did not write");
}

}  // namespace hilo::cli
