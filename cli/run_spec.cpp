#include "cli/run_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <set>
#include <thread>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/ranks.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stop_signal.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/memory.hpp"
#include "hilo/env/registry.hpp"
#include "hilo/experiment/run.hpp"
#include "hilo/store/store.hpp"

namespace hilo::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// "figure-2a: 132 of 252 runs, 4.1 runs/s, 0:29 left", rewritten in place, on a terminal only.
class ProgressLine {
 public:
  explicit ProgressLine(std::string name)
      : name_(std::move(name)), on_terminal_(::isatty(STDERR_FILENO) == 1) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() {
    if (shown_) say("\r\033[K");
  }

  void show(const Progress& progress) {
    const double elapsed = seconds_since(start_);
    if (!on_terminal_ || (progress.done < progress.total && elapsed - last_ < 0.2)) return;
    last_ = elapsed;
    shown_ = true;
    const auto left =
        static_cast<long>(progress.share > 0 ? elapsed / progress.share - elapsed : 0);
    say(fmt::format("\r\033[K{}: {} of {} runs, {:.1f} runs/s, {}:{:02} left", name_, progress.done,
                    progress.total, static_cast<double>(progress.done) / elapsed, left / 60,
                    left % 60));
  }

 private:
  std::string name_;
  bool on_terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  double last_ = 0;
};

// A table that cannot be read should be said once and before anything runs, not by every run.
void check_files(const Spec& spec, bool ignore_memory) {
  const std::vector<RunGroup> groups = plan(spec, {});
  if (groups.empty() || !groups[0].problem_kind->content_hash) return;
  if (!ignore_memory) require_memory(estimate_bytes(groups));
  build_problem(groups[0].problem_kind->name, groups[0].problem, groups[0].seed);
}

void take_note(RunOutcome& outcome, std::string note) {
  if (!note.empty()) outcome.notes.push_back(std::move(note));
}

std::vector<std::string> notes_of(std::span<const Spec> specs) {
  std::vector<std::string> notes;
  for (const Spec& spec : specs) notes.insert(notes.end(), spec.notes.begin(), spec.notes.end());
  return notes;
}

}  // namespace

RunOutcome run_specs(const std::string& name, std::span<const Spec> specs,
                     const RunRequest& request) {
  RunOutcome outcome;
  const std::vector<RunGroup> all = plan(specs, {});
  outcome.total = count_runs(all);
  outcome.ranks = num_ranks();
  for (const Spec& spec : specs) check_files(spec, request.ignore_memory);
  outcome.notes = notes_of(specs);
  const unsigned threads = threads_of_rank(request.threads);
  const Checkpoints checkpoints = Checkpoints::beside(request.store, request.checkpoint_every);
  if (!is_first_rank()) {
    const StopOnSignal stop;
    work_for_first_rank(
        all, threads, [] { return !stop_requested; }, checkpoints);
    outcome.by_others = true;
    return outcome;
  }

  Store store = Store::open(request.store);
  // Before anything is changed: a store that was made for nothing goes away again.
  if (!request.ignore_memory) {
    try {
      require_memory(plan(specs, store.finished()), threads);
    } catch (const Error&) {
      store.discard_if_new();
      throw;
    }
  }
  for (const Spec& spec : specs)
    for (std::string& dropped : store.define_experiment(spec))
      outcome.dropped.push_back(std::move(dropped));
  // What is damaged is no reason to run nothing.
  for (const Spec& spec : specs) store.require_intact(spec.name);
  const std::set<RunKey> finished = store.finished();
  const std::vector<RunGroup> groups = plan(specs, finished);
  if (groups.empty() && outcome.ranks == 1) {
    take_note(outcome, store.close());
    return outcome;
  }

  std::signal(SIGPIPE, SIG_IGN);  // losing the reader of our output must not lose runs
  const StopOnSignal stop;
  ProgressLine line(name);
  const auto start = Clock::now();
  const RunCallbacks callbacks = {.on_record =
                                      [&](const RunRecord& record) {
                                        const auto before = Clock::now();
                                        store.append(record);
                                        outcome.store_seconds += seconds_since(before);
                                        if (record.failed && outcome.first_error.empty())
                                          outcome.first_error = record.error;
                                      },
                                  .on_progress = [&](const Progress& p) { line.show(p); },
                                  .keep_going = [] { return !stop_requested; },
                                  .checkpoints = &checkpoints};
  const Progress progress = make_executor(threads)->run(all, finished, callbacks);
  outcome.done = progress.done;
  outcome.failed = progress.failed;
  outcome.interrupted = progress.done < progress.total;
  outcome.seconds = seconds_since(start);
  take_note(outcome, store.close());
  return outcome;
}

void dry_run(const std::string& name, std::span<const Spec> specs, const RunRequest& request,
             bool json) {
  std::set<RunKey> finished;
  if (std::filesystem::exists(request.store))
    finished = Store::open_to_read(request.store).finished();
  const auto groups = plan(specs, finished);
  const std::size_t total = count_runs(plan(specs, {}));
  const CostEstimate cost = estimate_cost(groups);
  const unsigned threads =
      request.threads > 0 ? request.threads : std::max(1U, std::thread::hardware_concurrency());
  const double seconds = cost.core_seconds / threads;
  const double megabytes = cost.bytes_per_thread * threads / 1e6;
  nlohmann::json agents = nlohmann::json::array();
  for (const Spec& spec : specs) {
    if (!json)
      fmt::print("{}: {} agents, seeds {} to {}\n", spec.name, spec.configs.size(),
                 spec.seeds.first, spec.seeds.last);
    for (const RunConfig& config : spec.configs) {
      if (!json) fmt::print("  {}  {}\n", config.hash, config.label);
      agents.push_back({{"experiment", spec.name},
                        {"label", config.label},
                        {"hash", config.hash},
                        {"canonical", config.canonical}});
    }
  }
  if (!json)
    for (const std::string& note : notes_of(specs)) fmt::print("note: {}\n", note);
  if (json)
    fmt::print("{}\n", json_text(nlohmann::json{{"experiment", name},
                                                {"runs", total},
                                                {"to_do", count_runs(groups)},
                                                {"seconds", seconds},
                                                {"megabytes", megabytes},
                                                {"too_large_to_try", cost.too_large_to_try},
                                                {"threads", threads},
                                                {"agents", agents},
                                                {"notes", notes_of(specs)}}));
  else
    fmt::print("{} of {} runs to do; about {:.0f} s{} and {:.0f} MB on {} threads\n",
               count_runs(groups), total, seconds,
               cost.too_large_to_try ? " without problems that are too large to be tried" : "",
               megabytes, threads);
}

std::string describe(const std::string& name, const RunRequest& request,
                     const RunOutcome& outcome) {
  const std::string store = request.store.string();
  std::string text;
  for (const std::string& note : outcome.notes) text += fmt::format("note: {}\n", note);
  if (!outcome.dropped.empty())
    text += fmt::format(
        "{}: other configurations stood for {} before; their runs stay in the store "
        "but are no longer shown (--set name=... keeps both)\n",
        name, fmt::join(outcome.dropped, ", "));
  if (outcome.done == 0 && !outcome.interrupted)
    return text +
           fmt::format("{}: nothing to do, all {} runs are in {}\n", name, outcome.total, store);
  text += fmt::format("{}: {} of {} runs done in {:.1f} s{}, results in {}\n", name, outcome.done,
                      outcome.total, outcome.seconds,
                      outcome.ranks > 1 ? fmt::format(" on {} ranks", outcome.ranks) : "", store);
  if (outcome.failed > 0)
    text += fmt::format("{}: {} runs failed, the first with: {}\n", name, outcome.failed,
                        outcome.first_error);
  if (outcome.interrupted)
    text += fmt::format("{}: interrupted; the same command continues\n", name);
  return text;
}

nlohmann::json to_json(const std::string& name, const RunRequest& request,
                       const RunOutcome& outcome) {
  return {{"experiment", name},           {"store", request.store.string()},
          {"runs", outcome.total},        {"done", outcome.done},
          {"failed", outcome.failed},     {"interrupted", outcome.interrupted},
          {"seconds", outcome.seconds},   {"store_seconds", outcome.store_seconds},
          {"error", outcome.first_error}, {"ranks", outcome.ranks},
          {"notes", outcome.notes}};
}

Overrides seeds_override(const std::string& text) {
  if (text.empty()) return {};
  try {
    const SeedRange seeds = parse_seeds(text);
    return {fmt::format("seeds=\"{}..{}\"", seeds.first, seeds.last)};
  } catch (const Error& e) {
    throw Error(Errc::usage, fmt::format("--seeds: {}", e.what()));
  }
}

int exit_code(const RunOutcome& outcome) {
  if (outcome.interrupted) return kInterrupted;
  return outcome.failed > 0 ? static_cast<int>(Errc::simulator) : 0;
}

}  // namespace hilo::cli
