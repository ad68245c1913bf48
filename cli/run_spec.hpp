#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "hilo/driver/run_specs.hpp"

namespace hilo::cli {

// What came of a call, for this process: with several ranks only the first one knows.
struct RanOnRanks {
  RunOutcome outcome;
  int ranks = 1;           // processes that worked on it
  bool by_others = false;  // this is not the rank that speaks to the user
};

// Runs what the store does not have yet, with one progress line on a terminal. Ctrl-C stops
// cleanly. `name` stands for all of the specs in messages.
RanOnRanks run_on_ranks(const std::string& name, std::span<const Spec> specs,
                        const RunRequest& request);

// Prints what would be run, how long it would take and how much memory; writes nothing.
void dry_run(const std::string& name, std::span<const Spec> specs, const RunRequest& request,
             bool json);

// One line for people, and the same for machines.
std::string describe(const std::string& name, const RunRequest& request, const RanOnRanks& ran);
nlohmann::json to_json(const std::string& name, const RunRequest& request, const RanOnRanks& ran);

// --seeds as an override of the spec, none if it is empty. A bad value is a bad flag, not a bad
// spec.
Overrides seeds_override(const std::string& text);

// 0, 6 if a run failed, 130 if interrupted.
int exit_code(const RunOutcome& outcome);

}  // namespace hilo::cli
