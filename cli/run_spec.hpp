#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "hilo/driver/run_specs.hpp"

namespace hilo::cli {

// The outcome of run_on_ranks in this process. With several ranks, only the first has the outcome.
struct RanOnRanks {
  RunOutcome outcome;
  int ranks = 1;           // processes that worked on it
  bool by_others = false;  // this is not the rank that writes to the user
};

// Executes the runs that the store does not have yet, with one progress line on a terminal. Ctrl-C
// stops cleanly. Messages use `name` for all specs together.
RanOnRanks run_on_ranks(const std::string& name, std::span<const Spec> specs,
                        const RunRequest& request);

// Prints what would be run, how long it would take and how much memory it would need. Writes no
// file.
void dry_run(const std::string& name, std::span<const Spec> specs, const RunRequest& request,
             bool json);

// The outcome as text and as JSON.
std::string describe(const std::string& name, const RunRequest& request, const RanOnRanks& ran);
nlohmann::json to_json(const std::string& name, const RunRequest& request, const RanOnRanks& ran);

// --seeds as an override of the spec; none if it is empty. A bad value is reported as a usage
// error, not as an error of the spec.
Overrides seeds_override(const std::string& text);

// 0, 6 if a run failed, 130 if interrupted.
int exit_code(const RunOutcome& outcome);

}  // namespace hilo::cli
