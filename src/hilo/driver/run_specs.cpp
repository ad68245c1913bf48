#include "hilo/driver/run_specs.hpp"

#include <algorithm>
#include <set>
#include <thread>

#include "hilo/core/error.hpp"
#include "hilo/core/memory.hpp"
#include "hilo/core/stopwatch.hpp"
#include "hilo/store/store.hpp"

namespace hilo {
namespace {

void require_room(std::span<const Spec> specs, const RunRequest& request, Store& store) {
  if (request.ignore_memory) return;
  try {
    require_memory(plan(specs, store.finished()), request.threads);
  } catch (const Error&) {
    store.discard_if_new();
    throw;
  }
}

// Tells the store which runs belong to the experiments. Throws if stored runs of these are damaged.
std::vector<std::string> define_experiments(std::span<const Spec> specs, Store& store) {
  std::vector<std::string> all_dropped;
  for (const Spec& spec : specs)
    for (std::string& dropped : store.define_experiment(spec))
      all_dropped.push_back(std::move(dropped));
  for (const Spec& spec : specs) store.require_intact(spec.name);
  return all_dropped;
}

}  // namespace

std::vector<std::string> notes_of(std::span<const Spec> specs) {
  std::vector<std::string> notes;
  for (const Spec& spec : specs) notes.insert(notes.end(), spec.notes.begin(), spec.notes.end());
  return notes;
}

void check_files(std::span<const Spec> specs, bool ignore_memory) {
  for (const Spec& spec : specs) {
    const std::vector<RunGroup> groups = plan(spec, {});
    if (groups.empty() || !groups[0].problem_kind->content_hash) continue;
    if (!ignore_memory) require_memory(estimate_bytes(groups));
    const RunGroup& first = groups[0];
    if (first.problem_kind->has_vectors(first.problem))
      build_vector_problem(*first.problem_kind, first.problem, first.seed);
    else
      build_problem(*first.problem_kind, first.problem, first.seed,
                    build_high_fidelity(*first.problem_kind, first.problem, first.seed));
  }
}

RunOutcome run_specs(std::span<const Spec> specs, const RunRequest& request, Executor& executor,
                     const RunWatcher& watcher, bool always_execute) {
  RunOutcome outcome;
  const std::vector<RunGroup> all = plan(specs, {});
  outcome.total = count_runs(all);
  outcome.notes = notes_of(specs);
  check_files(specs, request.ignore_memory);
  Store store = Store::open(request.store);
  require_room(specs, request, store);
  outcome.dropped = define_experiments(specs, store);
  const std::set<RunKey> finished = store.finished();
  if (!without(all, finished).empty() || always_execute) {
    const Checkpoints checkpoints = Checkpoints::beside(request.store, request.checkpoint_every);
    if (watcher.on_start) watcher.on_start();
    const Stopwatch watch(outcome.seconds);
    const Progress progress = executor.run(
        all, finished,
        {.on_record =
             [&](const RunRecord& record) {
               const Stopwatch writing(outcome.store_seconds);
               store.append(record);
               if (!record.failed || outcome.first_cause || !outcome.first_error.empty()) return;
               outcome.first_error = record.error;
               outcome.first_cause = record.cause;
             },
         .on_progress =
             [&](const Progress& now) {
               if (watcher.on_progress) watcher.on_progress(now);
             },
         .keep_going = watcher.keep_going,
         .checkpoints = &checkpoints});
    outcome.done = progress.done;
    outcome.failed = progress.failed;
    outcome.interrupted = progress.done < progress.total;
  }
  if (std::string note = store.close(); !note.empty()) outcome.notes.push_back(std::move(note));
  return outcome;
}

RunForecast forecast(std::span<const Spec> specs, const RunRequest& request) {
  std::set<RunKey> finished;
  if (std::filesystem::exists(request.store))
    finished = Store::open_to_read(request.store).finished();
  const std::vector<RunGroup> groups = plan(specs, finished);
  const CostEstimate cost = estimate_cost(groups);
  const unsigned threads =
      request.threads > 0 ? request.threads : std::max(1U, std::thread::hardware_concurrency());
  return {.total = count_runs(plan(specs, {})),
          .to_do = count_runs(groups),
          .threads = threads,
          .seconds = cost.core_seconds / threads,
          .megabytes = cost.bytes_per_thread * threads / 1e6,
          .too_large_to_try = cost.too_large_to_try};
}

}  // namespace hilo
