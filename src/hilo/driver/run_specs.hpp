#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hilo/experiment/checkpoints.hpp"
#include "hilo/experiment/executor.hpp"
#include "hilo/experiment/run.hpp"
#include "hilo/experiment/spec.hpp"

namespace hilo {

struct RunRequest {
  std::filesystem::path store = "hilo.db";
  unsigned threads = 0;                           // 0: one for each core
  bool ignore_memory = false;                     // run what may not fit into it
  double checkpoint_every = Checkpoints::kEvery;  // seconds
};

// Who wants to know, and who may stop it.
struct RunWatcher {
  std::function<void()> on_start = {};  // all is checked, and there is something to do
  std::function<void(const Progress&)> on_progress = {};  // never from two threads at once
  std::function<bool()> keep_going = [] { return true; };
};

struct RunOutcome {
  std::size_t total = 0;     // runs of the specs, each once
  std::size_t done = 0;      // now
  std::size_t failed = 0;    // among them
  bool interrupted = false;  // the same call continues
  double seconds = 0;
  double store_seconds = 0;               // spent on writing results
  std::string first_error;                // of the runs that failed,
  std::exception_ptr first_cause = {};    // and what was thrown, where that was in this process
  std::vector<std::string> dropped = {};  // agents that the experiment no longer shows
  std::vector<std::string> notes = {};    // what is not done as it was written
};

// All that the specs are not done as they were written.
std::vector<std::string> notes_of(std::span<const Spec> specs);

// Throws where files that a problem is read from are missing or wrong: once and before anything
// runs, not by every run.
void check_files(std::span<const Spec> specs, bool ignore_memory);

// Runs what the store does not have yet, in one plan, and what the specs share once. Nothing is
// changed before everything that can be checked was checked; a store that was made for nothing goes
// away again. With `always_execute` the executor is called even where nothing is left to do:
// others may be waiting for it.
RunOutcome run_specs(std::span<const Spec> specs, const RunRequest& request, Executor& executor,
                     const RunWatcher& watcher, bool always_execute = false);

// What run_specs would do: how much, how long and with how much memory. Writes nothing.
struct RunForecast {
  std::size_t total = 0, to_do = 0;  // runs
  unsigned threads = 1;
  double seconds = 0, megabytes = 0;
  bool too_large_to_try = false;  // some problems, which are not in `seconds`
};
RunForecast forecast(std::span<const Spec> specs, const RunRequest& request);

}  // namespace hilo
