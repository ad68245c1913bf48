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
  bool ignore_memory = false;                     // run even if it may not fit into memory
  double checkpoint_every = Checkpoints::kEvery;  // seconds
};

// Callbacks that follow a call of run_specs and can stop it.
struct RunWatcher {
  std::function<void()> on_start = {};                    // all checks passed, and there is work
  std::function<void(const Progress&)> on_progress = {};  // never from two threads at once
  std::function<bool()> keep_going = [] { return true; };
};

struct RunOutcome {
  std::size_t total = 0;     // runs of the specs, each once
  std::size_t done = 0;      // by this call
  std::size_t failed = 0;    // of those done
  bool interrupted = false;  // the same call would continue
  double seconds = 0;
  double store_seconds = 0;               // spent on writing results
  std::string first_error;                // of the runs that failed,
  std::exception_ptr first_cause = {};    // and what was thrown, where that was in this process
  std::vector<std::string> dropped = {};  // agents that the experiment no longer shows
  std::vector<std::string> notes = {};    // where the specs are not executed as written
};

// All notes of the specs: where they are not executed as written.
std::vector<std::string> notes_of(std::span<const Spec> specs);

// Throws if files that a problem is read from are missing or wrong, so that this is reported once,
// before anything runs, and not by every run. Only the first problem of each spec is built.
void check_files(std::span<const Spec> specs, bool ignore_memory);

// Executes the runs that the store does not have yet, in one plan; runs that specs share are
// executed once. Files and memory are checked before anything is changed, and a store that was
// created in vain is removed. With `always_execute` the executor is called even if nothing is left
// to do, because other processes may be waiting for it.
RunOutcome run_specs(std::span<const Spec> specs, const RunRequest& request, Executor& executor,
                     const RunWatcher& watcher, bool always_execute = false);

// Predicts what run_specs would do: the number of runs, the time and the memory. Writes nothing.
struct RunForecast {
  std::size_t total = 0, to_do = 0;  // runs
  unsigned threads = 1;
  double seconds = 0, megabytes = 0;
  bool too_large_to_try = false;  // some problems are; `seconds` is without them
};
RunForecast forecast(std::span<const Spec> specs, const RunRequest& request);

}  // namespace hilo
