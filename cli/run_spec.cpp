#include "cli/run_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/ranks.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stop_signal.hpp"
#include "hilo/core/error.hpp"
#include "hilo/core/stopwatch.hpp"

namespace hilo::cli {
namespace {

// Shows "figure-2a: 132 of 252 runs, 4.1 runs/s, 0:29 left", rewritten in place, only on a
// terminal.
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
  SteadyClock::time_point start_ = SteadyClock::now();
  double last_ = 0;
};

}  // namespace

RanOnRanks run_on_ranks(const std::string& name, std::span<const Spec> specs,
                        const RunRequest& request) {
  RanOnRanks ran;
  ran.ranks = num_ranks();
  const unsigned threads = threads_of_rank(request.threads);
  if (!is_first_rank()) {
    check_files(specs, request.ignore_memory);
    const StopOnSignal stop;
    work_for_first_rank(
        plan(specs, {}), threads, [] { return !stop_requested; },
        Checkpoints::beside(request.store, request.checkpoint_every));
    ran.by_others = true;
    return ran;
  }
  RunRequest on_this_rank = request;
  on_this_rank.threads = threads;
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe must not end the runs
  // Until the runs start, a signal still ends the program at once.
  std::optional<StopOnSignal> stop;
  std::optional<ProgressLine> line;
  ran.outcome = run_specs(specs, on_this_rank, *make_executor(threads),
                          {.on_start =
                               [&] {
                                 stop.emplace();
                                 line.emplace(name);
                               },
                           .on_progress = [&](const Progress& p) { line->show(p); },
                           .keep_going = [] { return !stop_requested; }},
                          /*always_execute=*/ran.ranks > 1);
  return ran;
}

void dry_run(const std::string& name, std::span<const Spec> specs, const RunRequest& request,
             bool json) {
  const RunForecast expected = forecast(specs, request);
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
                        {"canonical", config.configuration.text()}});
    }
  }
  if (json) {
    fmt::print("{}\n", json_text(nlohmann::json{{"experiment", name},
                                                {"runs", expected.total},
                                                {"to_do", expected.to_do},
                                                {"seconds", expected.seconds},
                                                {"megabytes", expected.megabytes},
                                                {"too_large_to_try", expected.too_large_to_try},
                                                {"threads", expected.threads},
                                                {"agents", agents},
                                                {"notes", notes_of(specs)}}));
    return;
  }
  for (const std::string& note : notes_of(specs)) fmt::print("note: {}\n", note);
  fmt::print("{} of {} runs to do; about {:.0f} s{} and {:.0f} MB on {} threads\n", expected.to_do,
             expected.total, expected.seconds,
             expected.too_large_to_try ? " without problems that are too large to be tried" : "",
             expected.megabytes, expected.threads);
}

std::string describe(const std::string& name, const RunRequest& request, const RanOnRanks& ran) {
  const RunOutcome& outcome = ran.outcome;
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
                      ran.ranks > 1 ? fmt::format(" on {} ranks", ran.ranks) : "", store);
  if (outcome.failed > 0)
    text += fmt::format("{}: {} runs failed, the first with: {}\n", name, outcome.failed,
                        outcome.first_error);
  if (outcome.interrupted)
    text += fmt::format("{}: interrupted; the same command continues\n", name);
  return text;
}

nlohmann::json to_json(const std::string& name, const RunRequest& request, const RanOnRanks& ran) {
  const RunOutcome& outcome = ran.outcome;
  return {{"experiment", name},           {"store", request.store.string()},
          {"runs", outcome.total},        {"done", outcome.done},
          {"failed", outcome.failed},     {"interrupted", outcome.interrupted},
          {"seconds", outcome.seconds},   {"store_seconds", outcome.store_seconds},
          {"error", outcome.first_error}, {"ranks", ran.ranks},
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
