#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "hilo/experiment/checkpoints.hpp"
#include "hilo/experiment/spec.hpp"

namespace hilo::cli {

struct RunRequest {
  std::filesystem::path store = "hilo.db";
  unsigned threads = 0;
  bool ignore_memory = false;                     // run what may not fit into it
  double checkpoint_every = Checkpoints::kEvery;  // seconds
};

struct RunOutcome {
  std::size_t total = 0;     // runs of the specs, each once
  std::size_t done = 0;      // now
  std::size_t failed = 0;    // among them
  bool interrupted = false;  // the same call continues
  int ranks = 1;             // processes that worked on it
  bool by_others = false;    // this is not the rank that speaks to the user
  double seconds = 0;
  double store_seconds = 0;  // spent on writing results
  std::string first_error;
  std::vector<std::string> dropped;  // agents that the experiment no longer shows
  std::vector<std::string> notes;    // of the specs: what is not done as it was written
};

// Runs what the store does not have yet, in one plan with one progress line on a terminal, and
// what the specs share once. Ctrl-C stops cleanly. `name` stands for all of them in messages.
RunOutcome run_specs(const std::string& name, std::span<const Spec> specs,
                     const RunRequest& request);

// Prints what would be run, how long it would take and how much memory; writes nothing.
void dry_run(const std::string& name, std::span<const Spec> specs, const RunRequest& request,
             bool json);

// One line for people, and the same for machines.
std::string describe(const std::string& name, const RunRequest& request, const RunOutcome& outcome);
nlohmann::json to_json(const std::string& name, const RunRequest& request,
                       const RunOutcome& outcome);

// --seeds as an override of the spec, none if it is empty. A bad value is a bad flag, not a bad
// spec.
Overrides seeds_override(const std::string& text);

// 0, 6 if a run failed, 130 if interrupted.
int exit_code(const RunOutcome& outcome);

}  // namespace hilo::cli
